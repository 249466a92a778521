"""Laws and draws of numbers of records: binomial, multinomial, hypergeometric.

* `count_laws`: The exact laws of counts: binomial and hypergeometric masses, distribution functions and quantiles,
  certified
* `counts`: Exact integer samplers for the cells of a cube: binomial, multinomial and hypergeometric numbers of
  records
"""
