"""What the gates of the commands share: homes to start from, quick commands, and what must hold.

`act` runs a command of the product in a fork of a process that has its modules loaded already:
the same program at a third of the price. `victims` says how victims are started (`promising`).
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import forked
from sandbox import UNRECORDED

from . import tracer
from .arena import Command, Ran, resolve
from .product import must, repository, siding

GATE = [
    pytest.mark.skipif(
        tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
    ),
    pytest.mark.timeout(900),  # whole commands, many times; seconds each on an idle machine
]
SLOW_S = 3.0  # of processor time, which a busy machine stretches far less than the clock
ROOT = "{case}/repo"
SAID = "echo out; echo err >&2; "  # what a recorded command prints
WORK = ("sh", "-c", SAID + "echo more >> file; echo new > new; rm -f old")


def promising(*words: str, fault: str = "", cwd: str = ROOT) -> Command:
    """A victim that keeps its promise with its exit status 0: one line, `done`, says so."""
    inner = siding(*words, fault=fault, cwd=cwd)
    script = '"$@" && echo done'
    return inner._replace(argv=("sh", "-c", script, "sh", *inner.argv))


def act(
    case: Path,
    *words: str,
    status: int | None = 0,
    cwd: str = ROOT,
    env: Mapping[str, str] | None = None,
    fault: str = "",
) -> Ran:
    """Runs a command of the product to its end; `status` None accepts any exit."""
    (_, *given), environment, directory = resolve(siding(*words, env=env, cwd=cwd), case)
    done = forked.siding_in_fork(given, env=environment, cwd=directory, mistake=fault)
    ran = Ran(
        status=done.status,
        stdout=done.stdout.decode("utf-8", "replace"),
        stderr=done.stderr.decode("utf-8", "replace"),
    )
    assert "Traceback" not in ran.stderr, ran.stderr
    assert done.cpu_s < SLOW_S, f"{words} took {done.cpu_s} s"
    assert "bug in Siding" not in ran.stderr, ran.stderr + _report(ran.stderr)
    assert status is None or ran.status == status, f"{' '.join(words)}: {ran}"
    return ran


def answer(case: Path, *words: str, **more: Any) -> Any:
    """What a command says as JSON."""
    return json.loads(act(case, *words, **more).stdout)


def project_of(case: Path) -> Path:
    (found,) = (case / "home/projects").iterdir()
    return found


def board(case: Path) -> dict[str, dict[str, Any]]:
    """Every task that is on the board, by name."""
    return {
        task["name"]: task for task in answer(case, "task", "list", "--all", "--format", "json")
    }


def steps(case: Path, task: str) -> list[dict[str, Any]]:
    found = answer(case, "log", "-t", task, "--limit", "0", "--format", "json")
    assert isinstance(found, list)
    return [step for step in found if step.get("status") not in UNRECORDED]


def task_files(case: Path, task: str) -> Path:
    return project_of(case) / "tasks" / str(board(case)[task]["id"])


def workspace_of(case: Path, task: str) -> Path:
    return project_of(case) / "workspaces" / str(board(case)[task]["id"])


# --- homes -----------------------------------------------------------------------------------


def fresh(case: Path) -> None:
    """A repository that Siding never saw."""
    repo = repository(case)
    (repo / "old").write_text("old\n", encoding="utf-8")
    (repo / ".siding").mkdir()
    (repo / ".siding/config.yaml").write_text("hooks:\n  post_create: ['true']\n", encoding="utf-8")
    for words in (("add", "-A"), ("commit", "-q", "-m", "second")):
        must(case, Command(argv=("git", *words), cwd=ROOT))
    (case / "tmp").mkdir()


def filled(case: Path) -> None:
    """Task `alpha` with a recorded run, and `plan`, which has no workspace; alpha is active."""
    fresh(case)
    act(case, "init")
    act(case, "task", "start", "plan", "--no-workspace", "--no-switch")
    act(case, "task", "start", "alpha")
    act(case, "run", "--", "sh", "-c", SAID + "echo first >> file; echo kept > kept")


def changed(case: Path) -> None:
    """As `filled`, and work in alpha's workspace that no step has seen."""
    filled(case)
    (workspace_of(case, "alpha") / "unseen").write_text("unseen\n", encoding="utf-8")


def doubled(case: Path) -> None:
    """As `filled`, and a second task, `beta`, with a workspace."""
    filled(case)
    act(case, "task", "start", "beta", "--no-switch")


# --- what must hold --------------------------------------------------------------------------


def works(case: Path, task: str = "alpha", *, first: int = 1) -> list[dict[str, Any]]:
    """Everything can be read, new work succeeds, and the task's record is whole. Its steps.

    `first` is how many steps the setup made: those may not have changed.
    """
    act(case, "status", "-t", task)
    before = steps(case, task)
    assert len(before) >= first, before
    if first:
        assert before[0]["status"] == "completed", before[0]
        assert "out" in act(case, "show", "1", "-t", task).stdout
    act(case, "run", "-t", task, "--wait", "--", "sh", "-c", "echo again >> again")
    after = steps(case, task)
    assert after[: len(before)] == before
    assert [step["step_id"] for step in after] == [f"{n + 1:04d}" for n in range(len(after))]
    assert after[-1]["diff_stat"]["file_list"] == ["again"], after[-1]
    assert_whole(case, task)
    repository_is_sound(case)
    return after


def assert_whole(case: Path, task: str, *, but: str = "torn") -> None:
    """`verify` finds nothing but, at most, what `but` says: lines that killed writers left."""
    proof = answer(case, "verify", task, "--format", "json")
    assert proof["whole"], proof
    assert [each for each in proof["findings"] if not each["problem"].startswith(but)] == []


def repository_is_sound(case: Path) -> None:
    """The user's own git works, and nothing of a dead command stands in its way."""
    must(case, Command(argv=("git", "fsck", "--connectivity-only", "--no-dangling"), cwd=ROOT))
    locks = [str(path.relative_to(case)) for path in (case / "repo/.git").rglob("*.lock")]
    assert locks == []
    listed = must(case, Command(argv=("git", "worktree", "list", "--porcelain"), cwd=ROOT)).stdout
    assert "prunable" not in listed, listed


def _report(complaint: str) -> str:
    """The bug report a message names, for the failure's text."""
    name = complaint.rpartition("please report it with ")[2].strip()
    try:
        text = Path(name).read_text("utf-8")
    except OSError:
        return ""
    return text[-1500:]
