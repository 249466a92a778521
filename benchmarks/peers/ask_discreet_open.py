"""discreet in a session that is open already, as the connection of the plain query is; the file is read in the time."""

from __future__ import annotations

from ask_discreet import opened, released
from measured import EPSILON, measure

import discreet as dp

MOST = 1000

if __name__ == "__main__":
    measure(lambda path: opened(path, dp.PureDP(MOST * EPSILON)), released, ["discreet", "duckdb"])
