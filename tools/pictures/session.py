"""Play what a person types at a terminal, and keep what is shown and when.

Everything is real: Siding, git and Claude Code on a pseudo-terminal. Only the model is a server of
the tests', which answers from a script. It lets the first attempt be wrong.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from agents.models import Call, ModelServer
from sandbox import environment
from terminal import Terminal

CHECKOUT = Path(__file__).resolve().parents[2]
COLUMNS, ROWS = 108, 24
AGENTS = CHECKOUT / ".venv" / "agents" / "node_modules" / ".bin"  # `run.py test` installs them
SHOWN_HOME = "/home/ada"
CART = '''def total(items):
    """Return what the items cost."""
    cost = 0
    for item in items:
        cost += item.price
    return cost
'''
LINE = "        cost += item.price\n"
ATTEMPTS = (
    (f"{LINE}        if item.count > 1:\n    {LINE}", "An item that is bought twice costs double."),
    ("        cost += item.price * item.count\n", "Each price is multiplied by its count now."),
)


class Typed(NamedTuple):
    """A line that is typed, how long a person reads what it shows, whether an agent is at work."""

    line: str
    read_s: float
    has_agent: bool = False


class Piece(NamedTuple):
    """What was shown at once, `at_s` seconds after the command began."""

    at_s: float
    shown: bytes


class Scene(NamedTuple):
    """A line that was typed, and all that came of it."""

    typed: Typed
    pieces: tuple[Piece, ...]


LINES = (
    Typed("siding run -- claude -p 'fix the total'", 1.6, has_agent=True),
    Typed("siding diff", 2.4),
    Typed(
        "siding retry            # not good: back to before it, and once more", 2.0, has_agent=True
    ),
    Typed("siding diff", 2.2),
    Typed("siding log", 3.0),
    Typed("siding apply            # good: onto main", 2.6),
    Typed("siding undo             # open again", 2.0),
    Typed("siding undo             # and off main", 4.0),
)


class _Watched(Terminal):
    """A terminal that notes when something was shown."""

    def __init__(self, line: str, *, cwd: Path, env: Mapping[str, str]) -> None:
        self.pieces: list[Piece] = []
        self._began = time.monotonic()
        argv = ["sh", "-c", f"exec {line}"]
        super().__init__(argv, cwd=cwd, env=env, rows=ROWS, columns=COLUMNS)

    def _read(self, end: float) -> bool:
        before = len(self.seen)
        goes_on = super()._read(end)
        if shown := self.seen[before:]:
            self.pieces.append(Piece(at_s=time.monotonic() - self._began, shown=shown))
        return goes_on


def play(directory: Path) -> list[Scene]:
    """Type all lines in a new repository below `directory`; return what was shown."""
    env = environment(directory)
    home = Path(env["HOME"])
    repository = _repository(home, env)
    model = ModelServer(_answers(home))
    env |= {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), str(AGENTS), env["PATH"]]),
        "SIDING_HOME": str(home / ".siding"),
        "PAGER": "cat",
        "ANTHROPIC_API_KEY": "sk-ant-of-a-picture",
        "ANTHROPIC_BASE_URL": model.url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    try:
        # The first agent at a terminal would ask whether it is to be guarded.
        guard = [sys.executable, "-m", "siding", "guard", "off"]
        subprocess.run(guard, cwd=repository, env=env, check=True, stdout=subprocess.DEVNULL)
        return [_scene(typed, repository, env) for typed in LINES]
    finally:
        model.close()


def _scene(typed: Typed, repository: Path, env: Mapping[str, str]) -> Scene:
    terminal = _Watched(typed.line, cwd=repository, env=env)
    status = terminal.finish(seconds=90)
    assert status == 0, (typed.line, status, terminal.seen.decode(errors="replace"))
    home = env["HOME"].encode()
    pieces = (
        piece._replace(shown=piece.shown.replace(home, SHOWN_HOME.encode()))
        for piece in terminal.pieces
    )
    return Scene(typed=typed, pieces=tuple(pieces))


def _repository(home: Path, env: Mapping[str, str]) -> Path:
    repository = home / "shop"
    repository.mkdir(parents=True)
    (repository / "cart.py").write_text(CART, encoding="utf-8")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "A cart"]):
        subprocess.run(["git", *words], cwd=repository, env=dict(env), check=True)
    (home / ".claude").mkdir()
    allowed = {"permissions": {"allow": ["Bash", "Edit", "Read"]}}
    (home / ".claude" / "settings.json").write_text(json.dumps(allowed), encoding="utf-8")
    return repository


def _answers(home: Path) -> list[list[str | Call]]:
    """Return what the model answers: a command that changes the file, and a sentence; twice."""
    answers: list[list[str | Call]] = []
    for number, (line, said) in enumerate(ATTEMPTS):
        changed = home / f"attempt-{number}"
        changed.write_text(CART.replace(LINE, line), encoding="utf-8")
        command = {"command": f"cat {changed} >cart.py", "description": "Change the total"}
        answers += [[Call("Bash", command)], [said]]
    return answers
