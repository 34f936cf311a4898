"""Print the help: the overview, the page of a group, the page of a verb."""

import argparse
from argparse import RawDescriptionHelpFormatter
from collections.abc import Mapping

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


def print_overview() -> None:
    """Print the page behind ``siding --help``: what is used every day, and where the rest is."""
    from siding.faces.cli.table import EVERY_DAY, SECTIONS

    print("Siding runs any coding agent on its own git worktree and records every step.\n")
    print("usage: siding [-C DIR] [-q] [-v] COMMAND [OPTIONS]\n")
    print("begin in any git repository:")
    print("  siding run -- claude -p 'fix the parser'    in a workspace of its own")
    print("  siding log                                  what was done")
    print("  siding diff                                 what it changed")
    print("  siding                                      what waits, runs, can be applied\n")
    print("every day:")
    for name in EVERY_DAY:
        _command(name)
    print("\nmore, by what you want:")
    for section, names in SECTIONS.items():
        _entry(section, ", ".join(names))
    print("\n`siding help all` lists every command, `siding COMMAND --help` tells more about one.")


def print_all() -> None:
    """Print the page behind ``siding help all``: every command with what it does."""
    from siding.faces.cli.table import EVERY_DAY, FOR_PROGRAMS, SECTIONS

    sections = {
        "every day": EVERY_DAY,
        **SECTIONS,
        "called by programs, or done by itself": FOR_PROGRAMS,
    }
    for number, (section, names) in enumerate(sections.items()):
        if number:
            print()
        print(f"{section}:")
        for name in names:
            _command(name)


def _command(name: str) -> None:
    """Print a verb or a group, with what it does."""
    from siding.faces.cli.table import GROUPS, VERBS

    if name in VERBS:
        _entry(name, VERBS[name][1])
        return
    about, members = GROUPS[name]
    _entry(name, f"{about}: {', '.join(members)}")


def print_group(group: str, about: str, verbs: Mapping[str, tuple[str, str]]) -> None:
    """Print the page behind ``siding task --help`` and its like."""
    print(f"usage: siding {group} COMMAND [OPTIONS]\n\n{about}\n\ncommands:")
    for verb, (_module, line) in verbs.items():
        _entry(verb, line)


def _entry(name: str, about: str) -> None:
    """Print a command and what it does; further lines are indented to the first one's text."""
    from textwrap import fill

    width = min(WIDEST, max(40, terminal_columns()))
    print(fill(about, width, initial_indent=f"  {name:<12} ", subsequent_indent=" " * 15))
