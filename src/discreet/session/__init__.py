"""The only orchestrator: orders, exact totals first, reserve, run, commit.

* `accounts`: The account of each data set in a ledger: its budget, what was spent, and which releases are committed
* `approving`: The statements that must be signed before a release is charged
* `attempts`: A reserved release on its way: reading, drawing, commit; or a failure of one constant text
* `beside`: Tables of persons beside the table of rows of a data set: one budget, and one person in all of them
* `charging`: Orders are charged to a data set: what is left of its budget, and which reservation an order goes on with
* `discovering`: A release whose groups nobody listed: the source is kept, its groups are found, and it is answered
* `extracting`: A stored release, returned by its ledger alone: no source, plan or session is needed
* `folders`: The folders of large releases: checked before anything is spent, filled after the commit
* `in_use`: Things that several threads use and one of them closes: the last user closes them
* `inspecting`: The curator's look at the rows: noted in the ledger before it, and told by every release after it
* `loading`: The modules of a session, imported before another thread can fork in the middle of an import
* `orders`: An order of one release, and its charge
* `populations`: A population: the persons that several data sets of a ledger hold, with one budget for all of these
* `public_facts`: The public facts of a source: its number of rows under `ReplaceOne`, and its exact totals
* `session`: The only orchestrator: what is stored → quote → reserve → carry out (`attempts`)
* `totals`: Exact totals on their way from the source to the ledger, and from the ledger to releases
* `windows`: Windows of a data set: ranges of days, each with a budget, and requests that read the rows of some only
* `declaring`: The declaration of a data set in its ledger: what its first charge fixes
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
