"""Integer query, sensitivity and guarantee in; noisy integers out. Mechanisms never see plans, engines or the ledger.

`sensitivity` bounds what one row can change, `additive` chooses the noise law for a guarantee and adds it, `lattice` has the
noises on the lattice that exact totals leave free, `selection` chooses quantiles.

* `_runs`: The candidates of one choice of a quantile in every cell: runs of codes of equal loss, as `selection`
  weighs them
* `naming`: What every law of noise has: a name for people, canonical JSON values, half-widths
"""

from discreet.mechanisms.additive import add_noise, add_noise_in_place, law_for
from discreet.mechanisms.selection import ExponentialQuantiles, quantiles_change, quantiles_for, select
from discreet.mechanisms.sensitivity import Change, Sensitivity, change_of, joint_factor, worst

__all__ = [
    "Change",
    "ExponentialQuantiles",
    "Sensitivity",
    "add_noise",
    "add_noise_in_place",
    "change_of",
    "joint_factor",
    "law_for",
    "quantiles_change",
    "quantiles_for",
    "select",
    "worst",
]
