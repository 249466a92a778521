"""Integer query, sensitivity and guarantee in; noisy integers out. Mechanisms never see plans, engines or the ledger.

A noise is the law of one published answer; a mechanism offers noises for a guarantee. Each has its own file.

* `base`: The base of every mechanism: what a noise can do, and which words pages have for it
* `registry`: All mechanisms and all noises, and the choice of the least noise
* `sensitivity`: The sensitivity: how much one row can change the answers of a request
* `laplace`: Discrete Laplace noise of independent cells
* `gaussian`: Rounded Gaussian noise of independent cells
* `held`: Either of them where exact totals leave cells that can hold a record
* `thresholds`: Keys that nobody listed: which are found, and the exact chance that a person's own key is
* `sum_zero`: Laplace noise that keeps the totals of blocks, or the margins of tables of two rows
* `lattice_laplace`: Laplace noise that keeps two exact margins, drawn by rejection
* `projected_laplace`: Laplace noise of independent cells, moved to what keeps exact totals
* `one_sign_laplace`: The K-norm of sums of numbers of one sign
* `vector_laplace`: Laplace noise for vectors, by the largest change of any of their numbers
* `lattice_gaussian`: Gaussian noise that keeps exact totals
* `rounded_lattice`: Gaussian noise that keeps exact totals, rounded: the only such noise with a μ
* `correlated_lattice`: The best such Gaussian where margins leave several cells at each place: two variances
* `k_norm`: The least noise that keeps exact totals, in few dimensions
* `quantile_choice`: Quantiles chosen by their rank, an exponential mechanism for each
* `interval_choice`: Intervals of quantiles, chosen around values that are public
* `effect_costs`: What a change of rows costs in all effects together
* `effect_shares`: The noise of effects that is best for some tables: the least sum of variances, or the least spend for
  given errors
* `effect_search`: The largest dual bound of such a division: multipliers of tables and of changes
* `effects`: Interactions of columns as integer queries, and the energies of a change of rows in each of them
* `tree_costs`: What a change of rows costs in effects that are measured in the areas of every level of a tree
* `exchanges`: What exchanges of rows that keep all margins can move: within places, and between them
* `shares`: The variances of independent noises with one guarantee and the least sum, with a certificate
* `part_costs`: The part of its guarantee that a noise spends on one row, as it is stated without exact totals
* `adding`: Noise meets values, in integers that cannot overflow
* `losses`: The facts of a noise that an audit needs: the loss of a move, and copies of cells
* `_placing`: Noise of the cells of a structure in the places of the answer
* `_runs`: The candidates of one choice of a quantile in every cell: runs of codes of equal loss
"""

from discreet.mechanisms.base import (
    Answer,
    Around,
    CellLaw,
    Codes,
    Guarantee,
    Lattice,
    Mechanism,
    Noise,
    NoiseWords,
    OneSign,
    Together,
    Vector,
    law_of_cell,
    noise_text,
    trials_text,
)
from discreet.mechanisms.interval_choice import ExponentialIntervals, hold_to, intervals_change
from discreet.mechanisms.quantile_choice import ExponentialQuantiles, quantiles_change
from discreet.mechanisms.registry import MECHANISMS, NOISES, candidates, noise_for, words_of
from discreet.mechanisms.sensitivity import (
    Change,
    Sensitivity,
    SomeChanges,
    change_of,
    change_of_vector,
    joint_factor,
    worst,
)
from discreet.mechanisms.vector_laplace import law_of_parts

__all__ = [
    "MECHANISMS",
    "NOISES",
    "Answer",
    "Around",
    "CellLaw",
    "Change",
    "Codes",
    "ExponentialIntervals",
    "ExponentialQuantiles",
    "Guarantee",
    "Lattice",
    "Mechanism",
    "Noise",
    "NoiseWords",
    "OneSign",
    "Sensitivity",
    "SomeChanges",
    "Together",
    "Vector",
    "candidates",
    "change_of",
    "change_of_vector",
    "hold_to",
    "intervals_change",
    "joint_factor",
    "law_of_cell",
    "law_of_parts",
    "noise_for",
    "noise_text",
    "quantiles_change",
    "trials_text",
    "words_of",
    "worst",
]
