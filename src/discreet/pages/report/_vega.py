"""Charts in, pictures out, in a process of their own: `python -P _vega.py`. The only file that imports vl-convert.

It draws with the engine V8, which ends its whole process where it may not reserve as much address space as it wants. This
file is run by its path and imports nothing of discreet, so that the process begins quickly.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress


def main() -> None:
    """A JSON list of Vega-Lite charts on stdin has become a JSON list of SVG texts on stdout."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # where it aborts it leaves no file behind
    import vl_convert

    charts = json.load(sys.stdin.buffer)
    json.dump([vl_convert.vegalite_to_svg(chart) for chart in charts], sys.stdout)


if __name__ == "__main__":
    main()
