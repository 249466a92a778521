"""The only orchestrator: orders, exact totals first, reserve, run, commit.

* `attempts`: A reserved release on its way: reading, drawing, commit; or a failure of one constant text
* `folders`: Where the files of large releases go: checked before anything is spent, put in their place after the
  commit
* `in_use`: What several threads work with and one of them closes: it is closed by the last who works with it
* `loading`: What a session works with, imported before another thread can fork in the middle of it
* `orders`: What a spend means: an amount of the budget's measure, always for the original data; and an order that
  names one
* `session`: The only orchestrator: what is stored → quote → reserve → make (`attempts`)
* `totals`: Exact totals on their way from the source to the ledger, and from the ledger to releases
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exact.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.session.orders import Order
    from discreet.session.session import Session

__all__ = ["Order", "Session"]

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, {"orders": ["Order"], "session": ["Session"]})  # loaded when they are first used
