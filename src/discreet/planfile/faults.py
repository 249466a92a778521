"""All faults of a plan file at once: the reader finds one, it is taken out of the way, and the plan is read again.

What is taken away leaves a gap that the reader skips, so that the places of all other faults stay what they are. What is
refused only because something was taken away is not a fault of the plan, and is left out here; should it be one after all,
it is found when the others are mended.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from discreet.errors import PlanError
from discreet.planfile.read import plan_of
from discreet.planfile.tree import GAP, Node

__all__ = ["faults_of"]

_MOST = 100
_MISSING = re.compile(r"the key '(\w+)'.* is missing")
_MEANT = re.compile(r"did you mean '(\w+)'[?]")
_OF_PERSONS = re.compile("is an Identifier|whose row is whose|what one person counts for")
"""What is said where the plan does not name whose row each row is, or no longer does."""
_DAY = "2000-01-01"
_COLUMN = {"type": "category", "categories": ["x"]}
_COUNT = {"statistics": ["count"], "spend": "1e-9"}
_FITTING: Mapping[str, Mapping[str, Any]] = {
    "data": {"dataset": "x", "source": "x", "ledger": "x", "neighbours": "add-remove", "rows": 1},
    "columns": {
        "type": "category",
        "categories": ["x"],
        "lower": 0,
        "upper": 0,
        "first": "2000-01-01",
        "last": "2000-01-01",
    },
    "budget": {"measure": "zcdp", "rho": 1, "epsilon": 1, "delta": "1e-9", "mu": 1},
    "release": _COUNT,
}
"""A value for each key that can be missing, which is not wrong by itself."""
_OTHER_END = {"lower": "upper", "upper": "lower", "first": "last", "last": "first"}


def faults_of(root: Node, parameters: Mapping[str, object] | None = None) -> list[PlanError]:
    """The faults of a plan, at most 100, in the order in which they were found; none for a plan that can be read."""
    found: list[PlanError] = []
    plan = _Mended(copy.deepcopy(root.value))
    for _ in range(3 * _MOST):
        try:
            plan_of(Node(plan.tree, (), root.file, root.text), parameters)
        except PlanError as fault:
            if str(fault) in map(str, found):  # what was put in its place is refused as well
                break
            if not plan.follows(fault):
                found.append(fault)
            if len(found) >= _MOST or not plan.mend(fault):
                break
        else:
            break
    return found


class _Mended:
    """The tree of a plan without the faults that are known, and what of it is not as it was written."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self._changed: set[tuple[str | int, ...]] = set()
        self._renamed: set[tuple[str | int, ...]] = set()
        self._number = 0

    def follows(self, fault: PlanError) -> bool:
        """True if the fault may come from what was taken away or put in: a column, the budget, a part of its release."""
        keys = fault.keys
        section = keys[:1]
        if section in {("derive",), ("test",)}:
            return any(place[0] in {"columns", "release"} for place in self._changed)
        if section == ("about",) and ("derive",) in self._changed:
            return True  # the words for what was derived
        if any(keys[: len(key)] == key for key in self._renamed):
            return True  # it has no place of that name
        if ("data",) in self._changed and section != ("data",) and _OF_PERSONS.search(str(fault)):
            return True  # the plan no longer names whose row each row is
        if section == ("columns",):
            return keys[:2] in self._changed and "no such key" not in str(fault) and not _MISSING.search(str(fault))
        said = str(fault).removeprefix(fault.place)
        columns = [str(place[1]) for place in self._changed if place[0] == "columns"]
        if section == ("data",):
            unnamed = columns and "Identifier of the schema" in said  # the column is there, and was wrong
            invented = ("rows",) in self._changed and "rows=" in said
            return bool(unnamed or invented or (("data",) in self._changed and "(with neighbours" in said))
        if section != ("release",):
            return section in self._changed and not _MISSING.search(str(fault))
        if keys[:2] in self._changed and said.startswith((": bound(): one", "bound(): one")):
            return True  # the bound was wrong, and is gone
        if keys[:2] in self._changed and "no bound of the request cuts anybody" in said:
            return True  # a group was wrong, and is gone
        if any(name in keys or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said) for name in columns):
            return True
        return (("budget",) in self._changed and "spend" in keys) or (keys[:2] in self._changed and "error" in keys)

    def mend(self, fault: PlanError) -> bool:
        """The fault is out of the way; False where that is not possible."""
        keys, missing = fault.keys, _MISSING.search(str(fault))
        self._number += 1
        if not keys or not isinstance(self.tree, dict):
            return False
        if keys[0] in {"about", "quality"}:
            return self._take(keys)
        if keys[0] in {"derive", "test"}:
            self._changed.add(keys[:1])
            return self._take(keys[:2])
        if keys[0] == "beside" and keys[2:3] == ("columns",) and len(keys) > 3:
            self._changed.add(("columns", keys[3]))  # releases may ask for it
            return self._take(keys if keys[4:] in {("clamp",), ("impute",), ("complete",)} else keys[:4])
        if missing is not None:
            return self._put(missing[1], keys)
        if "no such key" in str(fault) or len(keys) == 1:
            return self._rename(keys, _MEANT.search(str(fault))) or self._take(keys)
        return self._replace(keys)

    def _put(self, key: str, keys: tuple[str | int, ...]) -> bool:
        """A missing key has a value that fits its section."""
        table = _at(self.tree, keys)
        if not isinstance(table, dict) or key in table:
            return False
        fitting = {**_FITTING.get(str(keys[0]), {}), "name": f"unnamed {self._number}"}
        if key not in fitting:
            return self._replace(keys)
        if keys == ("data",) and key == "rows":
            self._changed.add(("rows",))  # what is said of this number is not about the plan
        table[key] = table.get(_OTHER_END.get(key, ""), copy.deepcopy(fitting[key]))
        if keys[0] in {"columns", "budget"}:
            self._changed.add(keys[:2])
        return True

    def _rename(self, keys: tuple[str | int, ...], meant: re.Match[str] | None) -> bool:
        """A misspelt key is the one that was meant, so that this is not missing."""
        table = _at(self.tree, keys[:-1])
        if meant is None or not isinstance(table, dict) or meant[1] in table:
            return False
        table[meant[1]] = table.pop(keys[-1])
        self._renamed.add((*keys[:-1], meant[1]))
        return True

    def _take(self, keys: tuple[str | int, ...]) -> bool:
        """The value at these keys is gone."""
        parent, last = _at(self.tree, keys[:-1]), keys[-1]
        if isinstance(parent, dict) and last in parent:
            del parent[last]
            return True
        if isinstance(parent, list) and isinstance(last, int) and last < len(parent):
            parent[last] = GAP
            return True
        return False

    def _replace(self, keys: tuple[str | int, ...]) -> bool:
        """The value at these keys is left out, or is one that fits where it cannot be left out."""
        section, place = str(keys[0]), keys[:2]
        self._changed.add(("budget",) if section == "budget" else ("data",) if section == "data" else place)
        if section == "columns":
            self._changed |= {("data",)} if _is_identifier(_at(self.tree, place)) else set()
            return self._leave_out(place)
        if section == "budget":
            self._state_spends()
            self.tree["budget"] = {"measure": "zcdp", "rho": 1}
            return True
        if section == "data":
            return self._replace_datum(str(keys[1]))
        return self._replace_part(keys) if section == "release" and isinstance(keys[1], int) else False

    def _state_spends(self) -> None:
        """Where releases split the budget, each states a spend of its own, so that the budget can be another one."""
        budget, releases = self.tree["budget"], self.tree.get("release")
        if not isinstance(budget, dict) or "spends" not in budget or not isinstance(releases, list):
            return
        for release in releases:
            if isinstance(release, dict) and not {"spend", "error"} & release.keys():
                release.pop("share", None)
                release["spend"] = _COUNT["spend"]

    def _leave_out(self, place: tuple[str | int, ...]) -> bool:
        """A column is left out. The last one becomes one that fits, so that budget and releases are read too."""
        column = _at(self.tree, place)
        if not self._take(place):
            return False
        if not self.tree["columns"]:
            self.tree["columns"][place[1]] = dict(_COLUMN)
        return bool(column != _COLUMN)

    def _replace_datum(self, key: str) -> bool:
        data = self.tree["data"]
        before = data.get(key)
        data.pop(key, None)
        if key in _FITTING["data"]:
            data[key] = "replace-one" if key == "neighbours" and "rows" in data else _FITTING["data"][key]
        return bool(data.get(key) != before)

    def _replace_part(self, keys: tuple[str | int, ...]) -> bool:
        """A part of a release is left out; the whole of it, where no part is named."""
        release = self.tree["release"][keys[1]]
        whole = {"name": f"unnamed {self._number}", **self._count()}
        if len(keys) == 2 or not isinstance(release, dict) or keys[2] in {"per_person", "table"}:  # which decide the rest
            same = bool(release == whole)
            self.tree["release"][keys[1]] = whole
            return not same
        part = str(keys[2])
        if part in {"group_by", "statistics", "where", "clamp", "impute", "complete", "error"} and len(keys) > 3:
            self._take(keys[:4])
            kept = [one for one in release[part] if one is not GAP]
        else:
            kept = []
        if not kept:
            release.pop(part, None)
            release.update({key: whole[key] for key in whole if key == {"error": "spend"}.get(part, part)})
        return True

    def _count(self) -> dict[str, Any]:
        """What every release can ask: rows, or persons where one person can have any number of rows."""
        data, found = self.tree.get("data"), copy.deepcopy(dict(_COUNT))
        if isinstance(data, dict) and "person" in data:
            found["statistics"] = ["persons"]
        return found


def _is_identifier(column: Any) -> bool:
    return isinstance(column, dict) and column.get("type") == "identifier"


def _at(tree: Any, keys: tuple[str | int, ...]) -> Any:
    for key in keys:
        tree = tree[key]
    return tree
