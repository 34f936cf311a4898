"""Start a command of Siding in a process of its own, from a program that cannot fork: the screens.

The command line goes into the background by itself (`--detach`), so it ends when what it started
runs, and that does not end with the screen.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.process.capture import run_captured
from siding.record.place.wiring import App

_BEGUN_WITHIN_S = 60.0  # to make a workspace, check a script, start a command


class NotStarted(SidingError):
    """The command was refused, or failed before anything ran."""

    code = "not_started"


def start_run(app: App, directory: Path, options: Sequence[str], argv: Sequence[str]) -> str:
    """Run a command as a run in the background, in the repository in a directory."""
    return _siding(app, directory, ["run", "--detach", *options, "--", *argv])


def start_retry(app: App, directory: Path, options: Sequence[str]) -> str:
    """Do a step again, in the background."""
    return _siding(app, directory, ["retry", "--detach", *options])


def resume_workflow(app: App, directory: Path, run_id: str) -> str:
    """Go on with a run of a workflow, in the background."""
    return _siding(app, directory, ["workflow", "resume", run_id, "--detach"])


def send_to_chat(app: App, directory: Path, task: str, chat: str, prompt: str) -> None:
    """Give a conversation its next prompt; its agent is started if it has ended."""
    words = ["chat", "send", "-t", task, "-c", chat, "-"]
    _siding(app, directory, words, prompt.encode("utf-8", "surrogateescape"))


def stop_chat(app: App, directory: Path, task: str, chat: str) -> None:
    """Have a conversation stop its turn."""
    _siding(app, directory, ["chat", "stop", "-t", task, "-c", chat])


def act_in_chat(app: App, directory: Path, words: Sequence[str]) -> str:
    """Carry out a command of `siding chat`, such as ``again -c c1 PROMPT``; return what it says."""
    return _siding(app, directory, ["chat", *words])


def begin_chat(app: App, directory: Path, task: str, agent: str, prompt: str) -> str:
    """Begin a conversation in a task, with a first prompt if there is one; return what is said."""
    words = ["chat", agent, *(["-"] if prompt else []), "-t", task]
    return _siding(app, directory, words, prompt.encode("utf-8", "surrogateescape"))


def end_chat(app: App, directory: Path, task: str, chat: str) -> None:
    """End the agent of a conversation."""
    _siding(app, directory, ["chat", "end", "-t", task, "-c", chat])


def _siding(app: App, directory: Path, words: Sequence[str], stdin: bytes = b"") -> str:
    """Run a command line of Siding; return what it says. Raises NotStarted, with its reason."""
    # With -m, Python looks for the package in the directory first: one of ours.
    done = run_captured(
        [sys.executable, "-m", "siding", "-C", os.fspath(directory), *words],
        env={**app.env, "SIDING_HOME": str(app.home.root)},
        cwd=app.home.root,
        stdin=stdin,
        timeout_s=_BEGUN_WITHIN_S,
    )
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode == 0:
        return said or done.stdout.decode("utf-8", "replace").strip()
    lines = said.splitlines() or [f"exit {done.returncode}"]
    at = next((n for n, line in enumerate(lines) if line.startswith("siding: error: ")), 0)
    hint = " ".join(lines[at + 1 :]).strip().removeprefix("hint: ")
    raise NotStarted(lines[at].removeprefix("siding: error: "), hint=hint or None)
