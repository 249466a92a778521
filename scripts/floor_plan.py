"""The floor plan in docs/architecture.md, drawn from the layers of `.importlinter`.

python scripts/floor_plan.py             write it
python scripts/floor_plan.py --check     exit with 1 where the page shows another one
"""

from __future__ import annotations

import re
import sys
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
PLACE = re.compile(r"(<!-- floor plan[^\n]*-->\n).*?(<!-- end of the floor plan -->)", flags=re.DOTALL)


def layers(contract: str) -> list[list[str]]:
    """The rooms of each floor, from the door down."""
    parser = ConfigParser()
    parser.read_string(contract)
    lines = parser["importlinter:contract:house"]["layers"].split("\n")
    return [[room.strip() for room in line.split("|")] for line in lines if line.strip()]


def picture(floors: list[list[str]]) -> str:
    """One line a floor; an arrow leads down from each to the next."""
    shown = [" │ ".join(rooms) for rooms in floors]
    width = max(map(len, shown)) + 4
    lines = [f"{line.center(width).rstrip()}\n{'▼'.center(width).rstrip()}" for line in shown[:-1]]
    return "\n".join([*lines, shown[-1].center(width).rstrip()])


def drawn(page: str, contract: str) -> str:
    """The page with the picture of the contract."""
    found = f"```text\n{picture(layers(contract))}\n```"
    return PLACE.sub(lambda place: f"{place[1]}\n{found}\n\n{place[2]}", page)


def main() -> None:
    """The page shows the floors of the contract."""
    page = PAGE.read_text(encoding="utf-8")
    new = drawn(page, (ROOT / ".importlinter").read_text(encoding="utf-8"))
    if "--check" in sys.argv and new != page:
        sys.exit("docs/architecture.md shows other floors than .importlinter: run scripts/floor_plan.py")
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
