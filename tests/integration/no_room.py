"""A small disk for a home, with something of everything in it, and every command there is.

`ROWS` says of each command what it may do when nothing can be written. A verb that has no row
fails `test_no_room_matrix.py`.
"""

import errno
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sandbox import Sandbox
from siding.faces.cli.table import BELOW, GROUPS, HIDDEN, VERBS

SESSION = "11111111-2222-4333-8444-555555555555"

# What a command does where nothing can be written.
READS = "reads"  # ends with 0, as ever
FREES = "frees"  # makes room on a full disk; refuses where nothing may be written
WRITES = "writes"  # refuses, says why and what to do, and changes nothing


class Row(NamedTuple):
    """One command, and what is expected of it."""

    words: tuple[str, ...]
    does: str
    status: int = 0  # of one that reads


def reads(line: str, status: int = 0) -> Row:
    return Row(words=tuple(line.split()), does=READS, status=status)


def writes(line: str, *more: str) -> Row:
    return Row(words=(*line.split(), *more), does=WRITES)


ROWS: dict[str, tuple[Row, ...]] = {
    "run": (writes("run -- sh -c", "echo never >>hello.txt"),),
    "status": (
        reads("status"),
        reads("status --format json"),
        reads("status --short"),
        reads("status --all"),
        reads("status --all --json"),
        reads("status --all --json --after 1:1"),
    ),
    "statusline": (reads("statusline"), reads("statusline --json")),
    "today": (reads("today"), reads("today --format json")),
    "acp": (reads("acp"),),  # its input has ended
    "chat": (writes("chat claude hello"), reads("chat")),
    "chat list": (reads("chat list"), reads("chat list --json")),
    "chat show": (reads("chat show"), reads("chat show --json")),
    "chat send": (writes("chat send hello"),),
    "chat steer": (writes("chat steer hello"),),
    "chat answer": (reads("chat answer --yes", status=1),),  # nothing is asked
    "chat always": (reads("chat always"), reads("chat always --json")),
    "chat queue": (reads("chat queue"), reads("chat queue --all --json")),
    "chat edit": (writes("chat edit 1 else"),),
    "chat move": (writes("chat move 1 --last"),),
    "chat drop": (writes("chat drop 1"),),
    "chat again": (writes("chat again 1"),),
    "chat go-on": (writes("chat go-on"),),
    "chat wait": (reads("chat wait", status=5),),  # prompts wait, and nobody holds the agent
    "chat set": (writes("chat set --model other"), reads("chat set")),
    "chat compact": (writes("chat compact"),),
    "chat commands": (reads("chat commands"), reads("chat commands --json")),
    "chat complete": (reads("chat complete @hel"), reads("chat complete /c --json")),
    "chat abilities": (reads("chat abilities"), reads("chat abilities claude --json")),
    "chat switch": (reads("chat switch codex", status=2),),  # it is not installed
    "chat take": (reads("chat take", status=1),),  # no run of an agent's own screen is there
    "chat stop": (reads("chat stop", status=2),),  # nobody holds its agent
    "chat end": (reads("chat end"),),
    "runs": (reads("runs"), reads("runs --all"), reads("runs --format json")),
    "output": (reads("output"),),
    "attach": (reads("attach", status=2),),  # there is no terminal
    "send": (reads("send r1 text", status=1),),  # nothing runs
    "integrate": (reads("integrate --list"),),  # writes no file of the home
    "turns": (reads("turns"), reads("turns --json")),
    "usage": (reads("usage"), reads("usage --cost")),
    "agent": (
        reads("agent -p x", status=2),  # no model is named
        writes("agent -p x --model scripted:none"),
    ),
    "agent doctor": (reads("agent doctor", status=1),),  # no model is named
    "agent env": (reads("agent env --all"),),
    "agent context": (reads("agent context"), reads(f"agent context {SESSION} --all")),
    "agent perf": (reads("agent perf"),),
    "agent usage": (reads("agent usage --all"), reads(f"agent usage {SESSION} --json")),
    "agent cost": (reads("agent cost --all"),),
    "agent stats": (reads("agent stats --all"),),
    "agent recap": (reads(f"agent recap {SESSION}"),),
    "agent away": (reads(f"agent away {SESSION}"),),
    "agent catchup": (reads(f"agent catchup {SESSION}"),),
    "agent summary": (reads(f"agent summary {SESSION}", status=2),),  # no model is named
    "agent debug-tool-call": (reads(f"agent debug-tool-call --session {SESSION}"),),
    "agent break-cache": (reads(f"agent break-cache {SESSION}"),),
    "agent effort": (reads("agent effort"), writes("agent effort high")),
    "mcp": (reads("mcp", status=2),),  # this is no run
    "note": (reads("note text", status=2),),  # this is no run
    "stop": (reads("stop --all"),),
    "log": (reads("log"), reads("log --format json"), reads("log -t old")),
    "show": (reads("show"), reads("show 1"), reads("show last --format json")),
    "diff": (
        reads("diff"),
        reads("diff 1"),
        reads("diff --step 3"),
        reads("diff --stat"),
        reads("diff --between 1 3"),
        reads("diff -t old"),
    ),
    "apply": (reads("apply --dry-run"), writes("apply"), writes("apply --no-close")),
    "sync": (reads("sync --dry-run"), writes("sync")),
    "pr": (
        writes("pr --dry-run"),  # records what is unrecorded before it shows what it would push
    ),
    "rollback": (
        reads("rollback --step 1 --dry-run"),
        reads("rollback --base --dry-run"),
        writes("rollback --step 1"),
        writes("rollback --base"),
        writes("rollback --base --hard"),
    ),
    "retry": (writes("retry 3"), writes("retry 3 -- true")),
    "rewind": (reads("rewind"), reads("rewind --list --json")),
    "bisect": (writes("bisect --check true"),),
    "comments list": (reads("comments list"), reads("comments --json")),
    "comments add": (writes("comments add hello.txt:1 never"),),
    "comments resolve": (writes("comments resolve c1"),),
    "comments send": (writes("comments send"),),
    "viewed": (reads("viewed --json"), writes("viewed hello.txt"), writes("viewed --all")),
    "undo": (writes("undo"),),
    "redo": (writes("redo -t redoable"),),
    "checkpoint": (writes("checkpoint"),),
    "cd": (reads("path new"),),
    "path": (reads("path"),),
    "open": (reads("open --with true new"), reads("open siding://repo/new")),
    "verify": (reads("verify"), reads("verify old")),
    "ui": (),  # it stays: see `test_the_dashboard_of_a_home_without_room`
    "gc": (reads("gc --dry-run"), Row(words=("gc",), does=FREES)),
    "init": (reads("init"),),
    "doctor": (reads("doctor --check"),),
    "import": (reads("import --dry-run board"), writes("import board")),
    "projects": (reads("projects"),),
    "inbox": (reads("inbox"), reads("inbox --json")),
    "trust": (reads("trust --show"), writes("trust")),
    "guard": (reads("guard"), writes("guard on")),
    "shell-init": (reads("shell-init bash"),),
    "completion": (reads("completion bash"),),
    "__complete": (reads("__complete task"),),
    # No such task: hosts alone call it.
    "__workflow": (reads("__workflow wnothing1", status=1),),  # there is no such run
    "__notice": (reads("__notice", status=2),),  # it is told nothing
    "__hub": (reads("__hub", status=1),),
    "__broker": (reads("__broker --task x --run r1 --listening 0 --lifeline 0", status=1),),
    "__effect": (reads("__effect --task x DECISION", status=1),),  # it is told nothing
    "__report": (reads("__report claude", status=1),),  # it is told nothing
    "task start": (
        writes("task start never"),
        writes("task start never --no-workspace"),
        writes("task start never --from new"),
    ),
    "fork": (writes("fork never"),),
    "race": (writes("race never --json"),),
    "workflow run": (writes("workflow run map items=[] prompt=never"),),
    "workflow list": (reads("workflow list"), reads("workflow list --scripts")),
    "workflow show": (reads("workflow show", status=1),),  # there is no run
    "workflow watch": (reads("workflow watch", status=1),),
    "workflow resume": (reads("workflow resume --all"),),  # none was interrupted
    "workflow kill": (reads("workflow kill last", status=1),),
    "workflow skip": (reads("workflow skip last 1", status=1),),
    "workflow retry": (reads("workflow retry last 1", status=1),),
    "workflow remove": (reads("workflow remove last", status=1),),
    "workflow check": (reads("workflow check race"),),
    "workflow new": (writes("workflow new never --home"),),
    "workflow convert": (reads("workflow convert nothing.js --show", status=1),),
    "workflow guide": (reads("workflow guide"),),
    "task list": (
        reads("task list"),
        reads("task list --format json"),
        reads("task list --children"),
    ),
    # There is no fork in this world: what they do with one is in tests/faults/test_fork_faults.py.
    "task keep": (reads("task keep fork-22222222", status=1),),
    "task bring-back": (reads("task bring-back fork-22222222", status=1),),
    "task drop": (reads("task drop"),),
    "task show": (reads("task show"), reads("task show old")),
    "task switch": (writes("task switch planned"),),
    # Not earlier: a run that was refused leaves one name free, and that is all it needs.
    "switch": (writes("switch planned"),),
    "task update": (writes("task update new -m text"),),
    "task close": (Row(words=("task", "close", "--keep", "spare"), does=FREES),),
    "task reopen": (writes("task reopen gone"),),
    "worktree add": (writes("worktree add planned"),),
    "worktree adopt": (writes("worktree adopt ASIDE"),),
    "worktree bind": (writes("worktree bind planned --worktree new"),),
    "worktree unbind": (writes("worktree unbind new"),),
    "worktree list": (reads("worktree list"),),
    "worktree status": (reads("worktree status"),),
    "worktree keep": (writes("worktree keep new"),),
    "worktree remove": (writes("worktree remove --force new"),),
    "worktree events": (reads("worktree events"),),
    "devices list": (reads("devices"), reads("devices list --json")),
    "devices pair": (reads("devices pair", status=1),),  # no dashboard runs
    "devices remove": (reads("devices remove phone", status=1),),  # none is paired
    "devices log": (reads("devices log"),),
    "policy check": (reads("policy check -- ls"),),
    "policy test": (reads("policy test"),),
    "policy list": (reads("policy list"),),
    "policy show": (reads("policy show"),),
    "decide submit": (writes("decide submit --no-wait --file other.json"),),
    "decide result": (reads("decide result", status=1),),
    "decide list": (reads("decide list"),),
    "decide show": (reads("decide show"),),
    "decide answer": (writes("decide answer --recommended"),),
    "decide effect": (reads("decide effect", status=1),),
    "decide cancel": (writes("decide cancel DECISION"),),
    "decide clean": (writes("decide clean --keep 0"),),
    "phase start": (writes("phase start impl again --again"),),
    "phase next-step": (writes("phase next-step on"),),
    "phase back-step": (writes("phase back-step back"),),
    "phase next-part": (writes("phase next-part impl on"),),
    "phase back-part": (writes("phase back-part task-optimize back"),),
    "phase issue": (writes("phase issue something"),),
    "phase error": (writes("phase error something"),),
    "phase status": (reads("phase status"),),
    "phase list": (reads("phase list"),),
    "phase show": (reads("phase show"),),
    "session list": (reads("session list"),),
    "session open": (reads("session open"),),
    "session show": (reads("session show"), reads("session show --format html")),
    "session search": (reads("session search zebra"),),
    "session resume": (reads("session resume"),),
    "session branch": (writes("session branch"),),
    "session rewind": (writes(f"session rewind {SESSION} 1"),),
    "session compact": (writes("session compact --clear-results 0"),),
    "session export": (reads("session export -o ../exported"),),
    "session pages": (reads("session pages -o ../pages"),),
    "session import": (writes("session import other.jsonl"),),
    "session doctor": (reads("session doctor"),),
    "session usage": (reads("session usage"),),
}


def every_verb() -> set[str]:
    """Return the name of every command in the table of commands."""
    grouped = {f"{group} {verb}" for group, (_, verbs) in GROUPS.items() for verb in verbs}
    below = {f"{above} {verb}" for above, verbs in BELOW.items() for verb in verbs}
    return {*VERBS, *HIDDEN, *grouped, *below}


@contextmanager
def small_disk(place: Path, options: str) -> Iterator[None]:
    """Mount a small file system of its own."""
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)],
        check=False,
        capture_output=True,
        timeout=60,
    )
    if made.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {made.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True, timeout=60)


def remount(place: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True, timeout=60)


def fill(place: Path) -> None:
    """Use up every byte."""
    with (place / "filler").open("wb", buffering=0) as file:
        until_full(lambda: file.write(bytes(1 << 12)))


def use_up_names(place: Path) -> None:
    (place / "names").mkdir(exist_ok=True)
    numbers = count()

    def one_more() -> None:
        with (place / "names" / str(next(numbers))).open("x"):
            pass

    until_full(one_more)


def until_full(act: Callable[[], object]) -> None:
    while True:
        try:
            act()
        except FileExistsError:
            continue
        except OSError as error:
            if error.errno == errno.ENOSPC:
                return
            raise


def question(title: str) -> str:
    options = [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]
    item = {"id": 1, "title": title, "recommend": "a", "options": options}
    return json.dumps({"task": "t", "source": "hello.txt", "items": [item]})


def transcript(session: str, word: str) -> str:
    line = {
        "type": "user",
        "uuid": f"{session[:-1]}9",
        "parentUuid": None,
        "sessionId": session,
        "timestamp": "2026-01-02T03:04:05.000Z",
        "message": {"role": "user", "content": word},
    }
    return json.dumps(line) + "\n"


def fill_world(sandbox: Sandbox, aside: Path) -> None:
    """Make one of everything that a command may be asked about; the task `new` is active."""
    repo = sandbox.repo
    (repo / "q.json").write_text(question("One?"), encoding="utf-8")
    (repo / "closed.json").write_text(question("Zero?"), encoding="utf-8")
    (repo / "other.json").write_text(question("Two?"), encoding="utf-8")
    source = repo / f"{SESSION}.jsonl"
    source.write_text(transcript(SESSION, "zebra"), encoding="utf-8")
    other = SESSION.replace("1", "7")
    (repo / "other.jsonl").write_text(transcript(other, "emu"), encoding="utf-8")
    sandbox.git("worktree", "add", "-q", "-b", "aside", str(aside))
    origin = repo.parent / "origin.git"
    sandbox.git("init", "-q", "--bare", str(origin))
    sandbox.git("remote", "add", "origin", str(origin))
    for name in ("old", "gone", "spare"):
        sandbox.siding("-q", "task", "start", name)
        sandbox.siding("-q", "run", "--", "sh", "-c", f"head -c 900000 /dev/urandom >{name}")
        if name != "spare":
            sandbox.siding("-q", "task", "close", "--force", name)
    sandbox.siding("-q", "task", "start", "planned", "--no-workspace")
    sandbox.siding("-q", "task", "start", "redoable")
    sandbox.siding("-q", "run", "--", "sh", "-c", "echo r >>hello.txt")
    sandbox.siding("-q", "undo")
    sandbox.siding("-q", "task", "start", "new")
    sandbox.siding("-q", "phase", "start", "flow-design", "begin")
    sandbox.siding("-q", "phase", "next-step", "on")
    sandbox.siding("-q", "run", "--", "sh", "-c", "echo one >>hello.txt")
    sandbox.siding("-q", "run", "--", "sh", "-c", "echo two >>hello.txt")
    (sandbox.workspace() / "unrecorded").write_text("new\n", encoding="utf-8")
    sandbox.siding("-q", "comments", "add", "hello.txt:1", "why?")
    sandbox.siding("-q", "session", "import", str(source))
    (repo / ".siding").mkdir()
    policy = "version: 1\ndisable: [run-outside]\nexamples:\n  allow: [ls]\n"
    (repo / ".siding" / "policy.yaml").write_text(policy, encoding="utf-8")
    (repo / "board" / ".tasks").mkdir(parents=True)
    plan = {"id": 1, "subject": "Plan", "description": "", "status": "pending", "owner": ""}
    (repo / "board" / ".tasks" / "task_1.json").write_text(json.dumps(plan), encoding="utf-8")
    fill_conversation(sandbox)
    closed = sandbox.siding("-q", "decide", "submit", "--no-wait", "--file", "closed.json")
    sandbox.siding("-q", "decide", "cancel", closed.stdout.decode().split()[-1])
    sandbox.siding("-q", "decide", "submit", "--no-wait", "--file", "q.json")


def fill_conversation(sandbox: Sandbox) -> None:
    """Write a conversation of the task `new` with two prompts that wait, and without an agent."""
    task = sandbox.json("task", "show", "--format", "json")["id"]
    (directory,) = Path(sandbox.env["SIDING_HOME"]).glob(f"projects/*/tasks/{task}")
    place = directory / "chats" / "c1"
    place.mkdir(parents=True)
    prompts = ("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222")
    story: list[dict[str, Any]] = [
        {"event": "began", "agent": "claude", "program": ["claude"]},
        *({"event": "queued", "prompt": each, "text": "hello"} for each in prompts),
    ]
    lines = [
        json.dumps({"seq": number, "at": "2026-11-28T08:00:00Z", **line}) + "\n"
        for number, line in enumerate(story, start=1)
    ]
    (place / "story.jsonl").write_text("".join(lines), encoding="utf-8")


def tree_of(place: Path, *, without: tuple[str, ...] = ()) -> dict[str, object]:
    """Return what a directory tree is: each path with its content or target."""
    found: dict[str, object] = {}
    for parent, directories, files in os.walk(place):
        directories[:] = [name for name in directories if name not in without]
        for name in (*directories, *files):
            path = Path(parent, name)
            where = str(path.relative_to(place))
            if path.is_symlink():
                found[where] = os.readlink(path)
            else:
                found[where] = path.read_bytes() if path.is_file() else None
    return found
