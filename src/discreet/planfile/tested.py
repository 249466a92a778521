"""The `[[test]]` sections of a plan file: hypotheses that are tested on what its releases publish."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.errors import did_you_mean, printed
from discreet.exact.names import one_form
from discreet.planfile.tree import Keys, Node
from discreet.session.orders import Order

if TYPE_CHECKING:
    from discreet.releases.hypotheses.requests import Hypothesis

__all__ = ["Tests", "tests_of"]

_COUNTS = ("statistic", "at", "alternative", "name", "release")
_KINDS: Mapping[str, Keys] = {
    "independence": ((), ("by", "draws", *_COUNTS)),
    "proportion": (("share",), ("of", "rows", *_COUNTS)),
    "difference": (("of", "by"), ("groups", *_COUNTS)),
    "means": (("total",), ("over", "by", "at", "deviation", "alternative", "name", "release")),
    "anova": (("total",), ("over", "variance", "by", "groups", "at", "deviation", "name", "release")),
    "coefficient": (("coefficient",), ("at", "name", "release")),
}
"""The keys that each test must have and may have."""


def _labels(node: Node) -> dict[str, Any]:
    return {key: one.scalars() for key, one in node.mapping().items()}


def _list(node: Node) -> list[Any]:
    return [one.scalars() for one in node.items()]


def _names(node: Node) -> Any:
    """A name, or a list of names."""
    return [one.string() for one in node.items()] if isinstance(node.value, list) else node.string()


_READ: Mapping[str, Callable[[Node], Any]] = {
    "by": _names,
    "draws": Node.scalars,
    "share": Node.number,
    "of": _labels,
    "rows": Node.scalars,
    "groups": _list,
    "total": Node.string,
    "coefficient": Node.string,
    "over": Node.string,
    "variance": Node.string,
    "deviation": Node.number,
    "statistic": Node.string,
    "at": _labels,
    "alternative": Node.string,
}


@dataclass(frozen=True, slots=True)
class _Placed:
    """A test, the release that is tested, and where the plan says it."""

    asked: Hypothesis
    release: str
    node: Node


@dataclass(frozen=True, slots=True)
class Tests:
    """All tests of a plan."""

    found: tuple[_Placed, ...] = ()

    def of(self, orders: Sequence[Order], dataset: str) -> tuple[Order, ...]:
        """The orders with their tests.

        Raises:
            PlanError: a test that cannot be made; `place` names it.
        """
        if not self.found:
            return tuple(orders)
        from discreet.releases.hypotheses.in_documents import check_test_names, check_tests

        placed = {order.name: [one for one in self.found if one.release == order.name] for order in orders}
        for order in orders:
            for end, one in enumerate(placed[order.name], start=1):
                with one.node.locate_errors():
                    check_test_names([other.asked for other in placed[order.name][:end]])
                    check_tests([one.asked], order.request, (dataset, order.name))
        return tuple(replace(order, tests=tuple(one.asked for one in placed[order.name])) for order in orders)


def tests_of(parts: Mapping[str, Node], orders: Sequence[Order]) -> Tests:
    """What the sections `[[test]]` say.

    Raises:
        PlanError: a key or a name that is not as it has to be; `place` names it.
    """
    if "test" not in parts:
        return Tests()
    node = parts["test"]
    if isinstance(node.value, dict):
        raise node.wrong("write [[test]] with two pairs of brackets: there can be several")
    return Tests(tuple(_place_of(one, [order.name for order in orders]) for one in node.items()))


def _place_of(node: Node, releases: Sequence[str]) -> _Placed:
    from discreet.releases.hypotheses.requests import Hypothesis

    kind, parts = node.choice("test", _KINDS)
    given = {}
    for key, read in _READ.items():
        if key in parts:
            with parts[key].locate_errors():
                given[key] = read(parts[key])
    name = parts["name"].string() if "name" in parts else kind
    if "release" in parts:
        release = one_form(parts["release"].string())
        if release not in releases:
            raise parts["release"].wrong(f"the plan has no release {printed(release)}{did_you_mean(release, releases)}")
    elif len(releases) == 1:
        (release,) = releases
    else:
        raise node.wrong('the plan has several releases; say which one is tested, release = "…"')
    return _Placed(Hypothesis(name, kind, given), release, node)
