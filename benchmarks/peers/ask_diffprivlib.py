"""diffprivlib from a pandas frame, each group by itself. Reading the file is not in the measured time.

Its mean takes the number of rows as public; so the mean is a quotient of a noisy sum and a noisy number of rows.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pandas as pd
from diffprivlib import tools
from diffprivlib.mechanisms import Geometric
from measured import CELLS, EPSILON, TOP, Line, measure, quotient

warnings.simplefilter("ignore")


def prepare(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path).astype({"state": "category", "sex": "category"})


def request(frame: pd.DataFrame) -> list[Line]:
    wages = frame.groupby(["state", "sex"], observed=False)["wage"]
    rows = Geometric(epsilon=EPSILON / 2, sensitivity=1)
    found = []
    for state, sex in CELLS:
        group = wages.get_group((state, sex)).to_numpy()
        total = tools.sum(group, epsilon=EPSILON / 2, bounds=(0, TOP))
        found.append(quotient(state, sex, rows.randomise(len(group)), float(total)))
    return found


if __name__ == "__main__":
    measure(prepare, request, ["diffprivlib", "pandas"])
