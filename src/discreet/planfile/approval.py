"""The `[approval]` section of a plan file: how many signatures of which keys every release of the data set needs."""

from __future__ import annotations

from pathlib import Path

from discreet.approvals.demand import Demand
from discreet.approvals.keys import PublicKey, load_public_keys, public_key
from discreet.planfile.tree import Node

__all__ = ["demand_of"]


def demand_of(node: Node, folder: Path) -> Demand:
    """The demand of the section: a number of signatures, and keys in a list or in a file with one in each line."""
    parts = node.table(("signatures", "keys"))
    keys = parts["keys"]
    with keys.locate_errors():
        found = _of_file(keys, folder) if isinstance(keys.value, str) else tuple(map(_of_text, keys.items()))
    wanted = parts["signatures"]
    if type(wanted.value) is not int or wanted.value < 1:
        raise wanted.wrong("must be a whole number, 1 or more")
    with node.locate_errors():
        return Demand(wanted.value, found)


def _of_file(node: Node, folder: Path) -> tuple[PublicKey, ...]:
    written = node.string()
    if not written or "\0" in written:
        raise node.wrong("must be the path of a file of public keys, or a list of keys")
    return load_public_keys(folder / written, "keys")


def _of_text(node: Node) -> PublicKey:
    with node.locate_errors():
        return public_key(node.string(), "key")
