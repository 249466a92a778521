"""Charts in, pictures out, in a separate process: `python -P _vega.py`. The only file that imports vl-convert.

It draws with the engine V8, which ends its whole process where it cannot reserve enough address space. This
file is run by its path and imports nothing of discreet, so that the process begins quickly. V8 and the drawing programs in
it load when the first chart is drawn, so one that nobody sees is drawn before the first line is read.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress

_NOTHING = {"data": {"values": [{"x": 0}]}, "mark": "point", "encoding": {"x": {"field": "x", "type": "quantitative"}}}


def main() -> None:
    """Turns each line of stdin, a JSON list of Vega-Lite charts, into a line of stdout, a JSON list of SVG texts."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # where it aborts it leaves no file behind
    import vl_convert

    vl_convert.vegalite_to_svg(_NOTHING)
    for line in sys.stdin.buffer:
        drawn = json.dumps([vl_convert.vegalite_to_svg(chart) for chart in json.loads(line)])
        sys.stdout.write(f"{drawn}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
