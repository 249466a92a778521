"""Rows by a synthesizer of SmartNoise: `python ask_smartnoise.py mst PERSONS.csv DOMAIN.json ROWS.csv OPTIONS`.

OPTIONS is an object of JSON with the arguments of `Synthesizer.create`. Beside ROWS.csv, ROWS.drawn.csv has rows that the
library below, mbi, draws from the same fitted model, instead of dividing them, which is what is documented.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
from charge import DELTA, as_documented
from snsynth import Synthesizer
from snsynth.utils import cdp_rho


def main(kind: str, persons: str, target: Path, options: dict[str, object]) -> None:
    """As many rows as there are persons; all columns are categories."""
    frame = pd.read_csv(persons)
    synthesizer = Synthesizer.create(kind, epsilon=as_documented(cdp_rho), delta=DELTA, verbose=True, **options)
    synthesizer.fit(frame, categorical_columns=[*frame.columns], preprocessor_eps=0.0)
    synthesizer.sample(len(frame)).to_csv(target, index=False)
    model = synthesizer.synthesizer
    synthesizer.synthesizer = SimpleNamespace(synthetic_data=partial(model.synthetic_data, method="sample"))
    synthesizer.sample(len(frame)).to_csv(target.with_suffix(".drawn.csv"), index=False)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[4]), json.loads(sys.argv[5]))
