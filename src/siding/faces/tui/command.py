"""`siding` alone at a terminal, and `siding open ADDRESS`: open the terminal, unless the settings
or the terminal say otherwise."""

import gc
import os
from argparse import Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import context_from
from siding.faces.tui import start

if TYPE_CHECKING:
    from siding.feed.addresses import Address


def opened(flags: dict[str, object], *, plain: bool) -> int | None:
    """Show the terminal until it is left; None where the day is to be printed instead."""
    if flags.get("color") == "never":
        os.environ["NO_COLOR"] = "1"
    return start.opened(context_from(Namespace(**flags)).app, plain=plain)


def opened_at(flags: dict[str, object], address: "Address") -> int | None:
    """Show what an address names in the terminal, until it is left; None where no screen opens."""
    if flags.get("color") == "never":
        os.environ["NO_COLOR"] = "1"
    app = context_from(Namespace(**flags)).app
    gc.disable()  # as at the start of `siding` alone: the screen has its own rule
    try:
        return start.opened(app, plain=False, at=address)
    finally:
        gc.enable()
