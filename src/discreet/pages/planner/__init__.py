"""The planner: one HTML page with sliders for spend, n, p and exact totals; errors and costs follow without a server.

The page holds no row and no secret: only a plan, its quotes, and the facts from which their noise follows. The page looks up
everything that depends on the controls in tables of quotes from the library. So no formula of privacy or noise is repeated
here. Its script is in three files: `formulas.js` looks up and adds, `chart.js` draws, `controls.js` connects.

* `curves`: The errors of a request by the amount that is spent: tables of quotes, one for each position of a slider
* `document`: The facts of the page as one JSON document: public facts of plan, ledger and quotes, no row and no secret
* `page`: The planner as one HTML file: no network, one script of a known digest, everything from the plan escaped
* `releases`: One release of the planner: its controls, their ranges, and the curves of its errors
* `scenes`: A plan file as the planner sees it: the exact totals that can be left out, and its text with slots for the
  controls
* `single`: The planner for one quote of a program, which has no plan file: it writes the changed calls instead
* `wholes`: The whole errors of a release on the page: what its steps move each number by, at each position of two
  sliders
"""

from discreet.pages.planner.document import Limit, Planned, Scene, planner_document
from discreet.pages.planner.page import render_planner, write_planner
from discreet.pages.planner.scenes import planned_file
from discreet.pages.planner.single import quote_html

__all__ = [
    "Limit",
    "Planned",
    "Scene",
    "planned_file",
    "planner_document",
    "quote_html",
    "render_planner",
    "write_planner",
]
