"""Print the page of help of every command as one text, to compare it with that of another commit.

    python -m tools.help_pages > now
    git worktree add --detach OLD COMMIT
    PYTHONPATH=OLD/src python -m tools.help_pages > before
    diff -u before now

The pages are those of the `siding` that Python finds first. Without a terminal they are as wide as
one of 100 columns. Hidden verbs are among them.
"""

import contextlib
import io
from collections.abc import Iterator


def pages() -> Iterator[tuple[str, str]]:
    """Return the words of each command, and its page of help."""
    for words in commands():
        yield " ".join(["siding", *words]), page(words)


def commands() -> Iterator[list[str]]:
    """Return the words of every command: the overviews, then verbs, groups and hidden verbs."""
    from siding.faces.cli.table import BELOW, GROUPS, HIDDEN, VERBS

    yield ["help"]
    yield ["help", "all"]
    for verb in VERBS:
        yield [verb]
        yield from ([verb, name] for name in BELOW.get(verb, ()))
    for group, (_about, members) in GROUPS.items():
        yield [group]
        yield from ([group, name] for name in members)
    yield from ([verb] for verb in HIDDEN)


def page(words: list[str]) -> str:
    """Return what a command prints when it is asked for help."""
    from siding.faces.cli.main import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            status = main(words if words[0] == "help" else [*words, "--help"])
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
    return out.getvalue() + (f"(status {status})\n" if status else "")


if __name__ == "__main__":
    for heading, text in pages():
        print(f"{'=' * 20} {heading}\n{text}")
