"""Damaged, replaced and future files of a home (P8, P9, P19) are named, and the rest is read."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from .arena import FULL, SEED, GateFailed
from .commands import (
    GATE,
    act,
    answer,
    board,
    doubled,
    filled,
    project_of,
    steps,
    task_files,
)
from .damage import CONTENT, KINDS, damage_each, survives_damage

pytestmark = GATE

READS = (
    ("status",),
    ("task", "list"),
    ("log", "-t", "alpha"),
    ("show", "1", "-t", "alpha"),
    ("diff", "-t", "alpha", "--step", "1"),
    ("runs", "--all"),
    ("output", "r7", "-t", "alpha"),
    ("verify", "alpha"),
    ("doctor", "--check"),
)
COMMANDS = (
    ("runs", "--all"),
    ("stop", "--all"),
    ("checkpoint", "-m", "so far"),
    ("run", "--", "true"),
    ("rollback", "--base", "--force"),
    ("undo", "--force"),
    ("apply", "--no-close", "--mode", "patch"),
    ("doctor",),
    ("task", "close", "alpha", "--force"),
)
INTENT = "intents/a0123456789ab.json"
FILES = (
    "task.json",
    "ledger.jsonl",
    INTENT,
    "intents/a0123456789ab.lock",
    "running.json",
    "lock",
    "artifacts/0001.output",
    "artifacts/0001.patch",
)
OF_RUNS = tuple(
    f"runs/{name}"
    for name in ("r7.json", "r7.lock", "r7.sock", "r7.fate", "r5.left", "last", "paused")
)
OF_PROJECT = (
    "state.json",
    "worktrees.json",
    "config.yaml",
    "project.json",
    "events.jsonl",
    "trust.json",
    "cache/board.json",
    "locks/project",
    "snapshots.git/config",
    "snapshots.git/HEAD",
    "snapshots.git/refs/tasks/{alpha}",
    "snapshots.git/tasks/{alpha}/index",
    "snapshots.git/tasks/{alpha}/base",
    "snapshots.git/tasks/{alpha}/seen",
)
CACHES = ("lock", "cache/", "locks/", "/index", "/seen", "runs/")  # made again without a word


def everywhere(case: Path) -> None:
    """Two tasks, every kind of file; the damaged one is linked at `<case>/target-N`.

    Two acts of the first task were cut off, one of them of an earlier version; and a run of it.
    """
    doubled(case)
    act(case, "trust")
    act(case, "run", "-t", "beta", "--", "sh", "-c", "echo b > b")
    parent = steps(case, "alpha")[-1]["snapshot"]
    running = {
        "version": 1,
        "number": 2,
        "kind": "run",
        "started_at": "2026-01-01T00:00:00.000Z",
        "pid": 1,
        "token": "",
        "parent": parent,
        "record": {"cmd": ["true"]},
    }
    alpha = task_files(case, "alpha")
    (alpha / "running.json").write_bytes(json.dumps(running).encode())
    cut_off = {**running, "act": "a0123456789ab", "number": 3}
    (alpha / INTENT).parent.mkdir(exist_ok=True)
    (alpha / INTENT).write_bytes(json.dumps(cut_off).encode())
    (alpha / INTENT).with_suffix(".lock").touch()
    _leave_a_run(alpha / "runs")
    # The project and the task get names that do not change from one setup to the next.
    task_id = board(case)["alpha"]["id"]
    (case / "project").symlink_to(project_of(case))
    for name in OF_PROJECT:
        if "{alpha}" in name:
            (case / name.replace("/", "+")).symlink_to(
                project_of(case) / name.replace("{alpha}", task_id)
            )
    (case / "alpha").symlink_to(alpha)


def _leave_a_run(directory: Path) -> None:
    """What a run leaves whose host was killed, with the processes that an act had stopped."""
    directory.mkdir(exist_ok=True)
    mark = {"pid": 1, "started": 1}
    named = {"run": "r7", "started_at": "2026-01-01T00:00:00.000Z", "cmd": ["true"], "cwd": "."}
    record = {"version": 1, **named, "token": "0" * 32, "boot": "b", "host": mark, "command": mark}
    (directory / "r7.json").write_bytes(json.dumps(record).encode())
    (directory / "r7.lock").touch()
    (directory / "r7.sock").touch()
    (directory / "r7.fate").write_bytes(b"0\n")
    left = {**named, "run": "r5", "boot": "b", "processes": [{**mark, "argv": ["sleep"]}]}
    (directory / "r5.left").write_bytes(json.dumps({"version": 1, **left}).encode())
    (directory / "last").write_bytes(b"7\n")
    (directory / "paused").write_bytes(b'{"version":1,"boot":"b"}\n{"pid":1,"started":1}\n')


def kinds_for(number: int, count: int = 1) -> tuple[str, ...]:
    """A share of the kinds, another one for each file; all of them when everything is asked for."""
    if FULL:
        return KINDS
    return tuple(KINDS[(number * count + SEED + turn * 7) % len(KINDS)] for turn in range(count))


@pytest.mark.parametrize(
    "names", [FILES, OF_RUNS, OF_PROJECT], ids=["of-a-task", "of-runs", "of-a-project"]
)
def test_a_damaged_file_is_named_and_the_rest_is_read(names: tuple[str, ...]) -> None:
    places = {_place(name): name for name in names}
    cases = [(place, kind, 0) for number, place in enumerate(places) for kind in kinds_for(number)]
    damage_each(everywhere, cases, lambda place: _check(places[place]), seconds=90)


@pytest.mark.parametrize("name", OF_RUNS)
def test_a_directory_in_the_place_of_a_file_of_runs_stops_no_command(
    tmp_path: Path, name: str
) -> None:
    filled(tmp_path)
    directory = task_files(tmp_path, "alpha") / "runs"
    for words in COMMANDS:
        shutil.rmtree(directory)
        _leave_a_run(directory)
        path = directory.parent / name
        path.unlink()
        path.mkdir()
        (path / "kept").touch()
        act(tmp_path, *words)
        assert list(directory.glob("*/kept")), words
    act(tmp_path, "verify", "alpha")


def _place(name: str) -> str:
    if name in (*FILES, *OF_RUNS):
        return f"alpha/{name}"
    return name.replace("/", "+") if "{alpha}" in name else f"project/{name}"


def _check(name: str) -> Callable[[Path, str, bytes], None]:
    def check(case: Path, kind: str, _before: bytes) -> None:
        path = case / _place(name)
        real = path.resolve() if kind in CONTENT else path
        damaged = real.read_bytes() if kind in CONTENT else b""
        for words in READS:
            _says_what_is_wrong(case, words)
        assert kind not in CONTENT or real.read_bytes() == damaged or _may_be_made_again(name)
        if name in (*FILES, *OF_RUNS):  # another task does not even notice
            assert "echo b" in act(case, "log", "-t", "beta").stdout
            act(case, "run", "-t", "beta", "--", "true")
            assert act(case, "verify", "beta").status == 0
        _says_what_is_wrong(case, ("run", "-t", "alpha", "--", "true"))
        if name in OF_RUNS:  # none of it is needed
            act(case, "run", "-t", "alpha", "--", "true")
            assert answer(case, "runs", "-t", "alpha", "--format", "json") == []
        _says_what_is_wrong(case, ("task", "update", "alpha", "--owner", "me"))
        if kind in CONTENT and name.endswith(".jsonl"):
            assert real.read_bytes().startswith(damaged)

    return check


def _may_be_made_again(name: str) -> bool:
    return any(part in name for part in CACHES)


def _says_what_is_wrong(case: Path, words: tuple[str, ...]) -> None:
    ran = act(case, *words, status=None)
    assert ran.status in (0, 1, 2, 3, 4), (words, ran)
    assert ran.status == 0 or ran.stderr.strip() or ran.stdout.strip(), (words, ran)


def test_a_command_that_falls_over_would_be_seen() -> None:
    def check(case: Path, _kind: str, _before: bytes) -> None:
        json.loads((case / "alpha/task.json").read_bytes())["name"]

    with pytest.raises(GateFailed):
        survives_damage(everywhere, "alpha/task.json", check, kinds=("empty",))


NEWER = {
    "alpha/task.json": (("log", "-t", "beta"), ("task", "update", "{alpha}", "--owner", "me")),
    "project/state.json": (("log", "-t", "beta"), ("task", "switch", "beta")),
    "project/worktrees.json": (("log", "-t", "beta"), ("worktree", "keep", "beta")),
    "project/project.json": ((), ("task", "start", "more")),
    "project/trust.json": (("log", "-t", "beta"), ("trust",)),
    "alpha/running.json": (("log", "-t", "beta"), ("run", "-t", "alpha", "--", "true")),
    f"alpha/{INTENT}": (("log", "-t", "beta"), ("run", "-t", "alpha", "--", "true")),
}


@pytest.mark.parametrize("name", NEWER)
def test_a_file_of_a_newer_version_is_refused_and_never_rewritten(
    tmp_path: Path, name: str
) -> None:
    everywhere(tmp_path)
    newer_is_refused(tmp_path, name)


def newer_is_refused(case: Path, name: str, *, fault: str = "") -> None:
    read, write = NEWER[name]
    alpha = board(case)["alpha"]["id"]
    path = case / name
    document = json.loads(path.read_bytes())
    path.write_bytes(json.dumps({**document, "version": 99, "later": True}).encode())
    before = path.read_bytes()
    words = tuple(word.replace("{alpha}", alpha) for word in write)
    refused = act(case, *words, status=1, fault=fault)
    assert "newer" in refused.stderr, refused
    assert path.read_bytes() == before
    if read:
        act(case, *read, fault=fault)
    assert path.read_bytes() == before


def test_a_ledger_line_of_a_newer_version_is_kept_and_told(tmp_path: Path) -> None:
    everywhere(tmp_path)
    ledger = tmp_path / "alpha/ledger.jsonl"
    for name in ("running.json", INTENT):
        (tmp_path / "alpha" / name).unlink()
    line = json.loads(ledger.read_bytes().splitlines()[-1])
    newer = {**line, "v": 99, "step_id": "0002", "kind": "dream", "later": {"x": 1}}
    ledger.write_bytes(ledger.read_bytes() + json.dumps(newer).encode() + b"\n")
    before = ledger.read_bytes()
    act(tmp_path, "log", "-t", "alpha")
    act(tmp_path, "run", "-t", "alpha", "--", "true", status=None)
    assert ledger.read_bytes().startswith(before)
