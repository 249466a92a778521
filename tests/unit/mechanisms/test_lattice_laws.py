"""Which noises on a lattice are offered for which totals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.invariants.structure import Table, Tables
from discreet.mechanisms.lattice import PairedLaplace, lattice_laws
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.privacy import PureDP
from discreet.quotes import law_json

PAIRED = Table(np.arange(6).reshape(2, 3, 1), None)
WIDER = Table(np.arange(6, 15).reshape(3, 3, 1), None)


def laws(*tables: Table) -> list[object]:
    cells = sum(table.order.size for table in tables)
    return list(lattice_laws(Tables(cells, tables), Sensitivity(4, 4), PureDP(1), 1))


def test_paired_noise_needs_two_rows_in_every_table() -> None:
    (law,) = laws(PAIRED)
    assert isinstance(law, PairedLaplace)
    assert law.scale == Fraction(2)
    assert laws(PAIRED, WIDER) == []
    assert not any(isinstance(law, PairedLaplace) for law in laws(Table(np.arange(9).reshape(3, 3, 1), None)))


def test_a_noise_without_a_name_is_our_fault() -> None:
    with pytest.raises(InternalError, match="without a name"):
        law_json(object())  # type: ignore[arg-type]
