"""Who comes from another tool does the old day's work with what `docs/coming-over.md` says.

Each ``coming_over/*.session`` begins with what a tool leaves on the disk. The commands after that
are those of the page, and no others.
"""

import re
from pathlib import Path

import pytest

from scripts.sessions import exchanges
from scripts.test_sessions import played_as_written

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs/coming-over.md"
SESSIONS = sorted((HERE / "coming_over").glob("*.session"))
GROUPS = ("task", "worktree", "flow", "decide", "policy")  # the word after one is a command's


def named_on_the_page() -> set[str]:
    """Return the commands that the page names: ours, and theirs that are the same here."""
    named: set[str] = set()
    for line in PAGE.read_text("utf-8").splitlines():
        group = ""
        for span in re.findall(r"`([^`]+)`", line):
            words = re.sub(r"^SIDING_HOME=\S+ ", "", span).split()
            if words[0] in ("siding", "bar", "aide"):
                named.add(verb_of(words[1:]))
                group = words[1] if words[1] in GROUPS else ""
            elif words[0] in GROUPS:
                named.add(verb_of(words))
            elif re.fullmatch("[a-z][a-z-]*", words[0]):
                named.add(f"{group} {words[0]}".strip())
    return named


def verb_of(words: list[str]) -> str:
    """Return what of a command says what is done: one word, or a group and a word."""
    return " ".join(words[: 2 if words[0] in GROUPS else 1])


def typed_in(script: Path) -> set[str]:
    """Return the commands of Siding that a session has."""
    commands = " && ".join(each.command for each in exchanges(script.read_text("utf-8")))
    found = re.findall(r"(?:^|&& |; |~/\.bar )siding ((?:-q )?[a-z-]+(?: [a-z-]+)?)", commands)
    return {verb_of(each.removeprefix("-q ").split()) for each in found}


@pytest.mark.parametrize("script", SESSIONS, ids=[path.stem for path in SESSIONS])
def test_the_old_day(script: Path, tmp_path: Path) -> None:
    played_as_written(script, tmp_path)


@pytest.mark.parametrize("script", SESSIONS, ids=[path.stem for path in SESSIONS])
def test_the_page_names_each_command(script: Path) -> None:
    typed = typed_in(script)
    assert len(typed) >= 9
    assert typed - named_on_the_page() == set()
