"""A person works a task of a real agent by the terminal's screen alone, in a real tmux."""

import re
import shlex
from pathlib import Path

import pytest

from agents.conftest import agent_named
from sandbox import SIDING, Sandbox
from tmux import Tmux

_LETTERS = re.compile(r"type (\S \S \S \S) : that answers")


@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_task_from_its_start_to_its_apply_and_back(
    sandbox: Sandbox, tmp_path: Path, name: str
) -> None:
    with agent_named(sandbox, name) as agent:
        model = agent.says(
            [agent.shell("sleep 5" if agent.name == "codex" else "true")],
            [agent.tool("ask_person", question="Which colour?", options=["crimson", "azure"])],
            [agent.shell("echo azure >hello.txt")],
            ["It is azure."],
            [agent.shell("echo azure and more >>hello.txt")],
            ["There is more."],
            [agent.shell("echo azure >hello.txt")],
            ["It is short again."],
        )
        words = agent.interactive()
        begun = Path(sandbox.env["SIDING_HOME"]) / "terminal/begun"
        begun.parent.mkdir(parents=True, exist_ok=True)
        begun.touch()
        before = sandbox.git("rev-parse", "main")
        with Tmux(tmp_path, cwd=sandbox.repo, env=sandbox.env, rows=40, columns=120) as tmux:
            tmux.start(*SIDING)
            tmux.until_shown("all projects")
            _starts(tmux, shlex.join([words[0], "Paint it", *words[1:]]))
            _answers(tmux)
            tmux.until(lambda: len(model.requests) == 4)
            _follows_up(tmux, "And now more")
            tmux.until(lambda: len(model.requests) == 6)
            _comments(tmux, "say it shorter")
            tmux.until(lambda: len(model.requests) == 8)
            assert "Requested change: say it shorter" in str(model.requests[6])
            _applies_and_undoes(tmux, sandbox)
        assert sandbox.git("rev-parse", "main") == before


@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["claude"])
def test_a_conversation_is_had_in_its_tab(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    with agent_named(sandbox, name) as agent:
        model = agent.says(
            ["# Painting\n\nIt will be **azure**."],
            [agent.shell("echo azure >hello.txt")],
            ["It is azure."],
        )
        begun = Path(sandbox.env["SIDING_HOME"]) / "terminal/begun"
        begun.parent.mkdir(parents=True, exist_ok=True)
        begun.touch()
        sandbox.siding("task", "start", "paint")
        with Tmux(tmp_path, cwd=sandbox.repo, env=sandbox.env, rows=40, columns=120) as tmux:
            tmux.start(*SIDING)
            tmux.until_shown("all projects")
            tmux.press_until("z", lambda: "paint" in tmux.screen)
            tmux.press("n")
            tmux.press("Enter")
            tmux.until_shown("[p Patch]")
            tmux.press("t")
            tmux.until_shown("There is no conversation in this task yet.")
            tmux.press_until("Enter", lambda: "Begin a conversation with" in tmux.screen)
            tmux.press_until("j", lambda: f">{name}" in tmux.screen)
            tmux.press("Enter")
            tmux.until_shown(f"begins one with {name}")
            tmux.type("Paint it")
            tmux.press("Enter")
            tmux.until_shown("you      Paint it", "Painting", "tokens")
            tmux.type("And now do it")
            tmux.press("Enter")
            tmux.until_shown("May claude run this?", "ctrl+y or tab answers")
            tmux.press("C-y")
            tmux.until_shown("digit")
            tmux.press_until("1", lambda: _LETTERS.search(tmux.screen))
            letters = _LETTERS.search(tmux.screen)
            assert letters is not None
            for each in letters[1].split():
                tmux.press(each)
            tmux.until_shown("It is azure.")
            assert (sandbox.workspace() / "hello.txt").read_text() == "azure\n"
        assert len(model.requests) == 3
        sandbox.siding("chat", "end", "--now", status=None)


def _starts(tmux: Tmux, line: str) -> None:
    tmux.press("N")
    tmux.until_shown("new task in")
    tmux.type(line)
    tmux.press("Enter")
    tmux.until_shown("1 run")


def _sorted(tmux: Tmux) -> None:
    """Have rows at their places now: they do not move under a cursor that was just used."""
    tmux.until(lambda: "all projects" in tmux.screen or ". sorts" in tmux.screen)
    tmux.press_until(".", lambda: "all projects" in tmux.screen)


def _answers(tmux: Tmux) -> None:
    tmux.until_shown("1 wait")
    _sorted(tmux)
    tmux.until_shown("asks: Which colour?")
    tmux.press("n")
    tmux.until_shown("azure", "crimson")
    tmux.press("C-y")
    tmux.until_shown("digit · ")
    tmux.press_until("2", lambda: "answered: azure" in tmux.screen)


def _follows_up(tmux: Tmux, prompt: str) -> None:
    tmux.press("f")
    tmux.until_shown("to ", " in ")
    tmux.type(prompt)
    tmux.press("Enter")
    tmux.until_shown("sent to")


def _comments(tmux: Tmux, said: str) -> None:
    tmux.press("Enter")
    tmux.until_shown("+ azure and more")
    tmux.press("J")
    tmux.press("j")
    tmux.press("c")
    tmux.until_shown("comment on hello.txt")
    tmux.type(said)
    tmux.press("Enter")
    tmux.until_shown(said)
    tmux.press("S")
    tmux.until_shown("send 1 comment")
    tmux.press("Enter")
    tmux.until_shown("sent 1 comment to r1")


def _applies_and_undoes(tmux: Tmux, sandbox: Sandbox) -> None:
    tmux.until_gone("+ azure and more")
    tmux.press("q")
    tmux.until_shown("repo")
    _sorted(tmux)
    tmux.press("x", "x")
    tmux.until_shown("1 ready")
    for _time in range(2):
        tmux.press("A")
        tmux.until_shown("A again does it")
        tmux.press("A")
        tmux.until_shown("applied to main")
        assert (sandbox.repo / "hello.txt").read_text() == "azure\n"
        tmux.press("U")
        tmux.until_shown("U again takes back the apply")
        tmux.press("U")
        tmux.until(lambda: (sandbox.repo / "hello.txt").read_text() == "hello\n")
        tmux.until_shown("1 ready")
