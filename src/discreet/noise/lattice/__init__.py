"""Integer vectors with given sums: laws and draws on the lattice that exact totals leave free.

* `_tree`: Klein's sampler on trees: integer vectors with given sums, node by node, many nodes in one array
* `cones`: The integer vectors in the span of a sensitivity space, and the K-norm on them, linear on each of finitely
  many cones
* `k_norm`: The generalized optimal K-norm mechanism on a lattice, exactly: noise with P(v) proportional to
  exp(-epsilon ‖v‖_K)
* `klein`: Exact Gaussian noise on the lattice of all integer vectors that a set of linear constraints leaves free
* `margin_gaussian`: The Gaussian of integer vectors and tables whose sums are 0: noise that leaves exact totals exact
* `margin_laplace`: The ℓ₁ law of tables whose two margins are 0: integers with P(v) proportional to exp(-|v|₁/scale),
  by rejection
* `margin_laplace_laws`: What is certain about one cell of that law: its variance, and intervals that cover
* `margin_laws`: What is certain about one cell of a lattice Gaussian: bounds of its tails and its variance, and
  intervals that cover
* `nearest_plane`: The rounded Gaussian of integer vectors and tables whose sums are 0: a Gaussian of their span, moved to an
  integer vector
* `nearest_plane_laws`: What is certain about one cell of a rounded Gaussian on a lattice: its mean variance, and
  intervals that cover
* `polytope`: The convex hull of a finite symmetric set of integer points, exactly: vertices, facets, norm,
  triangulation, volume
* `projected_laplace`: Laplace noise that is moved to a lattice: independent in every cell, projected on the span, rounded
  at random
* `projected_laplace_laws`: What is certain about one cell of such noise: its mean variance, and intervals that cover
* `sum_zero`: Exact noise for blocks of cells whose total is published: integers of sum 0, P(v) proportional to
  exp(-|v|₁/scale)
* `sum_zero_laws`: The exact law of one cell of a block of noise that sums to 0: masses, tails, intervals and
  variance, certified
* `vector_laplace`: Vectors of integers with P(v) proportional to exp(-max|v_i|/scale), drawn exactly
* `vector_laplace_laws`: What is certain about one number of such a vector, and about a combination of its numbers
"""
