"""The commands in the documentation are run, page by page, and print what the page says.

A fenced block marked ``console`` is part of its page's session: commands after ``$``, and what they
print, with ``[..]`` and ``...`` as in the scripts beside this file. A page may prepare its session
in a comment, ``<!-- setup`` and the commands on lines of their own. Two set-ups come for free:
``$HOME``, and a git identity.
"""

import re
from pathlib import Path

import pytest

from bwrap import bwrap_problem
from scripts.sessions import exchanges, matches, play

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```console\n(.*?)^```$|^<!-- setup\n(.*?)^-->$", re.MULTILINE | re.DOTALL)


def _name_of(page: Path) -> str:
    """Return a page's name below its folder: `sync`, `reference/broker`."""
    return page.relative_to(ROOT).with_suffix("").as_posix().removeprefix("docs/")


def session_of(page: Path) -> str:
    """Return a page's blocks as one session; set-up commands may print anything."""
    parts: list[str] = []
    for shown, hidden in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if shown:
            parts.append(shown)
        parts += [f"$ {command}\n...\n" for command in hidden.splitlines()]
    return "".join(parts)


WITH_COMMANDS = [page for page in PAGES if session_of(page)]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=_name_of)
def test_the_commands_of_a_page_do_what_it_says(page: Path, tmp_path: Path) -> None:
    if page.stem in ("sandbox", "broker", "traps") and (problem := bwrap_problem()):
        pytest.skip(problem)
    session = session_of(page)
    for exchange, output, status in play(session, tmp_path, forked=True):
        said = f"{page.name}: $ {exchange.command}\n{output}"
        assert status == exchange.status, said
        if not matches(exchange.expected, output):
            wanted = "\n".join(exchange.expected)
            pytest.fail(f"{said}\n--- the page says\n{wanted}")
    assert list(exchanges(session))


def test_the_pages_that_matter_have_commands() -> None:
    stems = {page.stem for page in WITH_COMMANDS}
    assert {"quickstart", "run", "tasks", "worktrees", "log-show-status", "diff"} <= stems


@pytest.mark.parametrize("page", PAGES, ids=_name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
