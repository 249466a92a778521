"""Integer query, sensitivity and guarantee in; noisy integers out. Mechanisms never see plans, engines or the ledger.

`sensitivity` bounds what one row can change, `additive` chooses the noise law for a guarantee and adds it, `lattice` has the
noises on the lattice that exact totals leave free.
"""

from discreet.mechanisms.additive import add_noise, law_for
from discreet.mechanisms.sensitivity import Sensitivity, sensitivity_of

__all__ = ["Sensitivity", "add_noise", "law_for", "sensitivity_of"]
