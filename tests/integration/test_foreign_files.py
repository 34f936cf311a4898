"""Files that no one of ours put into the home: what other programs leave, or copies in conflict.

Names that are no ids are passed over by every command, and `siding doctor` names them.
"""

import os
from pathlib import Path

from prepared import prepared
from sandbox import Sandbox

FILES = ("desktop.ini", ".DS_Store", "Thumbs.db", "x (conflicted copy).json", "a.json~", "1.json")
IN_PROJECT = (
    *("", "tasks", "workspaces", "trash", "archives", "decisions", "sessions", "workflow-runs"),
    *("locks", "terminals", "checkouts", "imports", "restoring", "cache", "snapshots.git/tasks"),
    *("forks", "forks/tasks", "forks/free", "forks/used", "forks/views", "forks/workspaces"),
    "forks/locks",
)
IN_TASK = ("", "intents", "runs", "artifacts", "agents", "asked", "sandbox", "decisions", "readers")
IN_HOME = ("", "projects", "devices", "ports", "cache", "cache/sessions", "locks")
COMMANDS = (
    *(("status",), ("log",), ("show", "1"), ("diff", "--stat"), ("task", "list", "--all")),
    *(("task", "show"), ("projects",), ("today",), ("inbox",), ("verify",), ("worktree", "list")),
    *(("decide", "list"), ("session", "list"), ("usage",), ("runs",), ("workflow", "list")),
    *(("devices", "list"), ("doctor", "--check")),
    *(("run", "--no-tty", "--", "sh", "-c", "echo more >>w"), ("checkpoint",)),
    *(("rollback", "--step", "1"), ("undo",), ("redo",), ("fork", "y", "-t", "x")),
    *(("sync", "-t", "x"), ("apply", "-t", "x", "--no-close")),
    *(("worktree", "remove", "x", "--force"), ("task", "reopen", "x")),
    *(("task", "close", "y", "--force", "--delete"), ("gc",), ("gc", "--older", "1s", "--yes")),
    ("doctor",),
)


def _worked(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "x")
    sandbox.siding("-q", "run", "--no-tty", "--", "sh", "-c", "echo work >w; echo out")
    sandbox.siding(
        "decide", "ask", "--title", "Which?", "--option", "a", "--option", "b", status=None
    )


def _litter(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (directory / name).write_bytes(b"\0not ours\n")
    (directory / "dangling").symlink_to("nowhere")
    (directory / "loop.json").symlink_to("loop.json")
    foreign = directory / "somebody's directory"
    foreign.mkdir()
    (foreign / "file").write_text("theirs\n")
    os.mkfifo(directory / "pipe.json")


def test_every_command_passes_over_what_is_not_ours() -> None:
    sandbox = prepared(_worked)
    project = sandbox.project
    (task,) = (project / "tasks").iterdir()
    places = [
        *(sandbox.directory / "siding" / name for name in IN_HOME),
        *(project / name for name in IN_PROJECT),
        *(task / name for name in IN_TASK),
    ]
    for place in places:
        _litter(place)
    failed = []
    for command in COMMANDS:
        done = sandbox.siding(*command, status=None)
        said = done.stderr.decode()
        # A directory among the workspaces may be somebody's work: a person looks at it.
        is_doctor = command[0] == "doctor"
        named = "Thumbs.db" in said + done.stdout.decode()
        if done.returncode != is_doctor or "Traceback" in said or named != is_doctor:
            failed.append((command, done.returncode, said[-400:]))
    assert not failed, "\n".join(map(str, failed))
    for place in places:
        if place.name == "decisions":
            continue  # a decision may have any name: the doctor keeps these as damaged ones
        left = set(os.listdir(place)) if place.is_dir() else set()
        assert not left or left >= {*FILES, "dangling", "loop.json", "pipe.json"}, place
