"""The planner: one HTML page with sliders for spend, n, p and exact totals; errors and costs follow without a server.

The page holds no row and no secret: a plan, its quotes, and what their noises follow from. Formulas are computed in the
page where they are closed, and looked up in tables of quotes where they are not; both on the careful side of the quote.
"""

from discreet.planner.document import Planned, Scene, planner_document
from discreet.planner.page import render_planner, write_planner
from discreet.planner.scenes import planned_file
from discreet.planner.single import quote_html

__all__ = [
    "Planned",
    "Scene",
    "planned_file",
    "planner_document",
    "quote_html",
    "render_planner",
    "write_planner",
]
