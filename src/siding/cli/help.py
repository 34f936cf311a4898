"""The overview pages: what there is, and how to begin."""

import argparse
from argparse import RawDescriptionHelpFormatter
from collections.abc import Mapping

from siding.cli.screen.screen import terminal_columns

# argparse asks gettext for each of its words, and gettext looks on the disk for catalogues that are
# nowhere: 2 ms of every start (Python 3.11). Nothing of Siding is translated.
argparse._ = str  # type: ignore[attr-defined]
argparse.ngettext = lambda one, many, n: one if n == 1 else many  # type: ignore[attr-defined]

WIDEST = 100  # columns of a page on a wide terminal


class HelpPage(RawDescriptionHelpFormatter):
    """A verb's help as its module's docstring has it.

    The width is given: argparse makes a formatter for every argument that is declared, and would
    load `shutil`, with three compressors, to ask for it.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(WIDEST, terminal_columns() - 2), max_help_position=28)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Break the paragraphs of a docstring anew where the terminal is narrower than they are."""
        if max(map(len, text.splitlines()), default=0) <= width:
            return super()._fill_text(text, width, indent)
        from textwrap import fill

        parts = text.split("\n\n")
        return "\n\n".join(part if "\n " in f"\n{part}" else fill(part, width) for part in parts)


def print_overview(
    verbs: Mapping[str, tuple[str, str]], groups: Mapping[str, tuple[str, Mapping[str, object]]]
) -> None:
    """Print the page behind ``siding --help``."""
    print("Siding runs any coding agent on its own git worktree and records every step.\n")
    print("usage: siding [-C DIR] [-q] [-v] COMMAND [OPTIONS]\n")
    print("begin in any git repository:")
    print("  siding run -- claude -p 'fix the parser'    in a workspace of its own")
    print("  siding log                                  what was done")
    print("  siding diff                                 what it changed\n")
    print("commands:")
    for verb, (_module, about) in verbs.items():
        _entry(verb, about)
    for group, (about, members) in groups.items():
        _entry(group, f"{about}: {', '.join(members)}")
    print("\n`siding COMMAND --help` tells more; `siding --version` prints the version.")


def print_group(group: str, about: str, verbs: Mapping[str, tuple[str, str]]) -> None:
    """Print the page behind ``siding task --help`` and its like."""
    print(f"usage: siding {group} COMMAND [OPTIONS]\n\n{about}\n\ncommands:")
    for verb, (_module, line) in verbs.items():
        _entry(verb, line)


def _entry(name: str, about: str) -> None:
    """Print a command and what it does, the second and further lines below the first."""
    from textwrap import fill

    width = min(WIDEST, max(40, terminal_columns()))
    print(fill(about, width, initial_indent=f"  {name:<12} ", subsequent_indent=" " * 15))
