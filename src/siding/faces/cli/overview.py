"""Print the pages of the help that are over several verbs: all of them, and those of a group."""

from collections.abc import Mapping

from siding.faces.cli.help import WIDEST
from siding.faces.cli.screen.screen import terminal_columns


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
    print("\n`siding COMMAND --help` tells more about one; `siding --version` prints the version.")


def _command(name: str) -> None:
    """Print a verb or a group, with what it does and the verbs below it."""
    from siding.faces.cli.table import BELOW, GROUPS, VERBS

    if name in VERBS:
        below = BELOW.get(name, {})
        about = VERBS[name][1]
        _entry(name, f"{about}: {', '.join(below)}" if below else about)
        return
    about, members = GROUPS[name]
    _entry(name, f"{about}: {', '.join(members)}")


def print_group(group: str, about: str, verbs: Mapping[str, tuple[str, str]]) -> None:
    """Print the page behind ``siding task --help`` and its like."""
    text = f"{about[:1].upper()}{about[1:]}."
    print(f"usage: siding {group} COMMAND [OPTIONS]\n\n{text}\n\ncommands:")
    for verb, (_module, line) in verbs.items():
        _entry(verb, line)
    print(f"\n`siding {group} COMMAND --help` tells more about one.")


def _entry(name: str, about: str) -> None:
    """Print a command and what it does; further lines are indented to the first one's text."""
    from textwrap import fill

    width = min(WIDEST, max(40, terminal_columns()))
    print(fill(about, width, initial_indent=f"  {name:<12} ", subsequent_indent=" " * 15))
