"""Format the help page of a verb."""

import argparse
from argparse import RawDescriptionHelpFormatter

from siding.faces.cli.screen.screen import terminal_columns

# argparse asks gettext for each of its words, and gettext looks on the disk for catalogues that are
# nowhere: 2 ms of every start (Python 3.11). Nothing of Siding is translated.
argparse._ = str  # type: ignore[attr-defined]
argparse.ngettext = lambda one, many, n: one if n == 1 else many  # type: ignore[attr-defined]

WIDEST = 100  # columns of a page on a wide terminal


class HelpPage(RawDescriptionHelpFormatter):
    """Formats a verb's help page; the text is its module's docstring.

    The width is passed in. Otherwise argparse, which makes a formatter for every argument, would
    load `shutil` and three compressors to find it.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(WIDEST, terminal_columns() - 2), max_help_position=28)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Wrap the paragraphs of a docstring again if the terminal is narrower than its lines."""
        if max(map(len, text.splitlines()), default=0) <= width:
            return super()._fill_text(text, width, indent)
        from textwrap import fill

        parts = text.split("\n\n")
        return "\n\n".join(part if "\n " in f"\n{part}" else fill(part, width) for part in parts)
