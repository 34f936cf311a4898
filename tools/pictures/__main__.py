"""Make the pictures of the README and the docs from what the real product shows.

    .venv/bin/python -m tools.pictures                all of them, into docs/images
    .venv/bin/python -m tools.pictures terminal       only the terminal of the README
    .venv/bin/python -m tools.pictures dashboard      only the dashboard of the README
    .venv/bin/python -m tools.pictures pages          only the pages of the docs
    .venv/bin/python -m tools.pictures --to DIRECTORY into another directory

A developer's tool. The terminal needs Claude Code, which `run.py test` installs, the others
chromium. Numbers of tasks and steps are drawn anew each time, so the same words make another file.
"""

import argparse
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "tests"))  # its terminal and its model server


def _terminal(scratch: Path, target: Path) -> None:
    from tools.pictures.animated_svg import drawn
    from tools.pictures.session import play

    (target / "terminal.svg").write_text(drawn(play(scratch)), encoding="utf-8")


def _dashboard(scratch: Path, target: Path) -> None:
    from tools.pictures.dashboard import make

    make(scratch, target)


def _pages(scratch: Path, target: Path) -> None:
    from tools.pictures.pages import make

    make(scratch, target)


PICTURES = {"terminal": _terminal, "dashboard": _dashboard, "pages": _pages}


def main(words: list[str]) -> int:
    """Make the pictures that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tools.pictures", description=__doc__)
    parser.add_argument("pictures", nargs="*", choices=[*PICTURES, []], metavar="PICTURE")
    parser.add_argument("--to", type=Path, default=CHECKOUT / "docs" / "images")
    asked = parser.parse_args(words)
    asked.to.mkdir(parents=True, exist_ok=True)
    for name in asked.pictures or PICTURES:
        with tempfile.TemporaryDirectory(prefix="siding-picture-") as scratch:
            PICTURES[name](Path(scratch), asked.to)
        print(f"made {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
