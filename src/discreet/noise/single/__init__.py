"""Laws of one integer and arrays of independent draws, exactly.

* `_acceptance`: Acceptance of lattice vectors drawn node by node: never skipped, decided by one lazily revealed
  uniform per vector
* `_centres`: Rational centres of a discrete Gaussian, a stretch at a time: nearest integer, exact rest, and the rest
  in doubles
* `_coins`: Numbers of successes among n independent records of one probability, from fair bits counted 64 at a time
* `_draw`: Draws from block envelopes, a chunk at a time: a few passes over arrays for all, certified arithmetic for
  the rest
* `_reference`: The meaning of the scalar samplers: one draw at a time, integers only, slow
* `_rough_tails`: Tails of Gaussian laws in double precision, with errors far below what they serve for: where a search
  begins
* `_weights`: The laws as the block-envelope sampler sees them: weights in floating point, as balls, and how they fall
* `exponential`: Choices with probability proportional to many · e^(-rate · loss), drawn exactly: what the exponential
  mechanism draws
* `laws`: The exact laws of the noises: masses, tails and the smallest symmetric intervals, certified
* `many`: The sum of very many noises of one law: a half-width from their moments, where their masses are too many to
  convolve
* `scalar`: Exact integer noise: discrete Laplace, discrete Gaussian, rounded Gaussian and geometric arrays
* `sums`: The law of a sum of independent noises a₁Y₁ + … + a_mY_m, for intervals of differences, totals and tree sums
* `weighted`: The sum of many independent noises with rational weights: a half-width in closed form
* `tables`: Block envelopes: an immutable table from which a law is drawn exactly (docs/proofs/noise.md, Lemma D)
"""
