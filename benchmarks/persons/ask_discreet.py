"""discreet: a session, a complete release with its ledger in memory, and its table."""

from __future__ import annotations

from pathlib import Path

from visits import BOUND, GROUPS, RHO, measure, shop

import discreet as dp

SCHEMA = dp.Schema(person=dp.Identifier(), shop=dp.Category([shop(number) for number in range(GROUPS)]))


def request(path: Path) -> dict[str, float]:
    relation = dp.AddRemove(person="person")
    limits = dp.Limits(threads=2, memory="3GB")
    options = {"dataset": "visits", "ledger": ":memory:", "budget": dp.ZCDP(1), "neighbours": relation, "limits": limits}
    with dp.Session(path, SCHEMA, **options) as session:
        asked = session.table.bound(groups=BOUND).group_by("shop").agg(dp.persons())
        release = session.release(asked, spend=dp.ZCDP(RHO), name="persons")
    return dict(release.table.select("shop", "persons").rows())


if __name__ == "__main__":
    measure(request)
