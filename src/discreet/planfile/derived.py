"""The `[[derive]]` sections of a plan file: ratios, changes and means of what its releases publish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.domain.about import About
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.names import one_form
from discreet.exact.numbers import exact
from discreet.planfile.tree import Keys, Node
from discreet.session.orders import Order

if TYPE_CHECKING:
    from discreet.releases.derived.requests import Derivation, Operand

__all__ = ["Derivations", "derivations_of"]

_KINDS: Mapping[str, Keys] = {
    "ratio": (("ratio", "under"), ("per",)),
    "change": (("change", "since"), ()),
    "combine": (("combine",), ()),
}
"""The keys with the operands of each kind, in the order in which its numbers are computed, and those that it may have."""

_ALWAYS = ("release", "confidence")


@dataclass(frozen=True, slots=True)
class _Placed:
    """A derivation, the release whose document has it, and where the plan says it."""

    asked: Derivation
    release: str
    node: Node


@dataclass(frozen=True, slots=True)
class Derivations:
    """All derivations of a plan."""

    found: tuple[_Placed, ...] = ()

    def names(self) -> dict[str, list[str]]:
        """The names of the columns that are derived, by the names of their releases."""
        named: dict[str, list[str]] = {}
        for one in self.found:
            named.setdefault(one.release, []).extend(one.asked.columns())
        return named

    def of(self, orders: Sequence[Order], dataset: str) -> tuple[Order, ...]:
        """The orders with what is derived from them.

        Raises:
            PlanError: a derivation that cannot be carried out; `place` names it.
        """
        if not self.found:
            return tuple(orders)
        from discreet.releases.derived.in_documents import check_derivations

        placed = {order.name: [one for one in self.found if one.release == order.name] for order in orders}
        for position, order in enumerate(orders):
            requests = {other.name: other.request for other in orders[: position + 1]}
            texts = [order.about] if isinstance(order.about, About) else order.about
            for end, one in enumerate(placed[order.name], start=1):
                with one.node.locate_errors():
                    asked = [other.asked for other in placed[order.name][:end]]
                    check_derivations(asked, requests, (dataset, order.name), texts)
        return tuple(replace(order, derive=tuple(one.asked for one in placed[order.name])) for order in orders)


def derivations_of(parts: Mapping[str, Node], orders: Sequence[Order], folder: Path) -> Derivations:
    """What the sections `[[derive]]` say.

    Raises:
        PlanError: a key, a name or a file that is not as it has to be; `place` names it.
    """
    if "derive" not in parts:
        return Derivations()
    node = parts["derive"]
    if isinstance(node.value, dict):
        raise node.wrong("write [[derive]] with two pairs of brackets: there can be several")
    return Derivations(tuple(_place_of(one, [order.name for order in orders], folder) for one in node.items()))


def _place_of(node: Node, releases: Sequence[str], folder: Path) -> _Placed:
    from discreet.releases.derived.requests import Derivation

    kind, parts = _kind_of(node)
    with parts["name"].locate_errors():
        name = _check_name(parts["name"].string())
    release = _release(parts["release"], releases) if "release" in parts else releases[0] if len(releases) == 1 else None
    written = [one for key in _KINDS[kind][0] for one in (parts[key].items() if kind == "combine" else [parts[key]])]
    operands = tuple(_operand(one, release, releases, folder) for one in written)
    used = [releases.index(one.release) for one in operands if one.known is None]
    if not used:
        raise node.wrong("derives from no release of this plan; `discreet derive` does that without a plan")
    numbers = {key: _number(parts[key], key) for key in ("per", "confidence") if key in parts}
    return _Placed(Derivation(name, kind, operands, **numbers), releases[max(used)], node)


def _kind_of(node: Node) -> tuple[str, dict[str, Node]]:
    every = [key for needed, allowed in _KINDS.values() for key in (*needed, *allowed)]
    given = node.table(("name",), (*every, *_ALWAYS))
    kinds = [kind for kind in _KINDS if kind in given]
    if len(kinds) != 1:
        raise node.wrong(f"must have one of {', '.join(_KINDS)}")
    needed, allowed = _KINDS[kinds[0]]
    return kinds[0], node.table(("name", *needed), (*allowed, *_ALWAYS), where=f" (with {kinds[0]})")


def _check_name(name: str) -> str:
    if not name or not name.isprintable() or len(name) > 200:
        raise ArgumentError(f"name={printed(name)}: must be printable text of 1 to 200 characters")
    return name


def _number(node: Node, key: str) -> Fraction:
    with node.locate_errors():
        return exact(node.number(), key)


def _release(node: Node, releases: Sequence[str]) -> str:
    name = one_form(node.string())
    if name not in releases:
        raise node.wrong(f"the plan has no release {printed(name)}{did_you_mean(name, releases)}")
    return name


def _operand(node: Node, release: str | None, releases: Sequence[str], folder: Path) -> Operand:
    """The numbers that a text, a number or a table means: a column, a constant, or what its keys say."""
    from discreet.releases.derived.operands import constants
    from discreet.releases.derived.requests import Operand

    if isinstance(node.value, dict) and "public" in node.value:
        parts = node.table(("public",), ("column",))
        with node.locate_errors():
            column = parts["column"].string() if "column" in parts else None
            return Operand(known=constants(folder / parts["public"].string(), column))
    if isinstance(node.value, dict):
        return _column(node, release, releases, folder)
    if type(node.value) is not str:
        with node.locate_errors():
            return Operand(known=constants(exact(node.number(), "constant")))
    return Operand(_name_of(node, release), node.string())


def _name_of(node: Node, release: str | None) -> str:
    if release is None:
        raise node.wrong('the plan has several releases; say which one it is of, release = "…"')
    return release


def _column(node: Node, release: str | None, releases: Sequence[str], folder: Path) -> Operand:
    """A column of numbers of a release of the plan, or of a former one in a folder."""
    from discreet.releases.derived.operands import numbers
    from discreet.releases.derived.requests import Operand
    from discreet.releases.document import Release

    parts = node.table(("of",), ("by", "at", "release", "folder"))
    column = parts["of"].string()
    by = tuple(one.string() for one in parts["by"].items()) if "by" in parts else None
    at = {key: one.scalars() for key, one in parts["at"].mapping().items()} if "at" in parts else {}
    if "folder" not in parts:
        return Operand(
            _release(parts["release"], releases) if "release" in parts else _name_of(node, release), column, by, at
        )
    if "release" in parts:
        raise parts["release"].wrong("give either a release of this plan, or the folder of a former one")
    with parts["folder"].locate_errors():
        former = Release.load(folder / parts["folder"].string())
    with node.locate_errors():
        return Operand(known=numbers(former, column, by=by, at=at))
