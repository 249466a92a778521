"""The planner: one HTML page with sliders for spend, n, p and exact totals; errors and costs follow without a server.

The page holds no row and no secret: a plan, its quotes, and what their noises follow from. What depends on
the controls is looked up in tables of quotes that the library made, so that no formula of privacy or noise has a twin here.

* `curves`: How the errors of a request follow from what is spent: tables of quotes, one for each position of a slider
* `document`: What the page knows, as one JSON document: public facts of plan, ledger and quotes, no row and no secret
* `page`: The planner as one HTML file: no network, one script of a known digest, everything from the plan escaped
* `releases`: One release of the planner: its controls, their ranges, and the curves that its errors are read from
* `scenes`: A plan file as the planner sees it: the exact totals that can be left out, and its text with slots for the
  controls
* `single`: The planner for one quote of a program, which has no plan file: it writes the changed calls instead
"""

from discreet.pages.planner.document import Planned, Scene, planner_document
from discreet.pages.planner.page import render_planner, write_planner
from discreet.pages.planner.scenes import planned_file
from discreet.pages.planner.single import quote_html

__all__ = [
    "Planned",
    "Scene",
    "planned_file",
    "planner_document",
    "quote_html",
    "render_planner",
    "write_planner",
]
