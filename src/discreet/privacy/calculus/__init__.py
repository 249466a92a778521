"""Profiles, composition and calibration of mechanisms: the public calculus, which no release needs.

* `_contour`: The contour integral behind `compose`: δ(ε) of a sum of independent losses, with bounds (Theorems F1 and
  F2)
* `_losses`: Transforms of privacy losses, normalised and with an error bound, for `compose`
* `calibrate`: The least noise that meets a target, and what a given noise achieves: always the side that was verified
* `compose`: What a list of mechanisms costs together, exactly: certified lower and upper bounds of δ(ε) and of ε(δ)
* `profile`: Exact privacy profiles δ(ε) of integer noise, rounded up: discrete Laplace, rounded Gaussian, discrete
  Gaussian
"""
