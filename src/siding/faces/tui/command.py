"""`siding` alone at a terminal: open the terminal, unless the day is to be printed."""

import os
from argparse import Namespace

from siding.faces.cli.globals import context_from
from siding.faces.tui import start


def opened(flags: dict[str, object], *, plain: bool) -> int | None:
    """Show the terminal until it is left; None where the day is to be printed instead."""
    if flags.get("color") == "never":
        os.environ["NO_COLOR"] = "1"
    return start.opened(context_from(Namespace(**flags)).app, plain=plain)
