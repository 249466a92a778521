"""The data set and the requests that the tests of the ledger share."""

from __future__ import annotations

from fractions import Fraction

from discreet.exact.numbers import exact
from discreet.ledger import Identity, Reservation

DECLARATION = '{"neighbours":{"kind":"replace-one","rows":100},"schema":{"age":[0,110]}}'


def amounts(*values: object) -> tuple[Fraction, ...]:
    return tuple(exact(value, "amount") for value in values)  # type: ignore[arg-type]


def identity(*budget: object, dataset: str = "wages", measure: str = "pure", declaration: str = DECLARATION) -> Identity:
    return Identity(dataset, declaration, measure, amounts(*(budget or (1,))))


def asks(name: str, *charge: object, plan: str = "plan", snapshot: bytes | str = b"source") -> Reservation:
    return Reservation(name, amounts(*charge), plan, snapshot, '{"law":"laplace"}')
