"""What is left over: steps cut off in closed tasks, deleted tasks without a workspace, the
directories of looks that were killed."""

import os
import subprocess
import sys
import time
from pathlib import Path

from sandbox import Sandbox
from siding.applying.apply import Mode
from siding.applying.reversal import applied_in
from siding.ground.storage.locks import Holder
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent, Intents
from siding.record.ledger.step import StepStatus
from siding.record.moving import checkout as checkouts
from siding.record.moving.model import Move, move_from
from siding.record.moving.move import swap
from siding.record.snapshots.scratch import hold
from siding.upkeep.doctor import examine, mend

from .desk import Desk


def cut_off(desk: Desk, kind: str, record: dict[str, object]) -> None:
    """Leave a step as a command leaves it that dies in the middle of it."""
    last = desk.steps()[-1]
    intent = Intent(
        act="a0123456789ab",
        number=last.number + 1,
        kind=kind,
        started_at="2026-01-01T00:00:00.000Z",
        pid=1,
        token="",
        parent=last.snapshot,
        draft=Draft.from_record(kind, record),
    )
    intents = Intents(desk.project.task_layout(desk.task.id))
    intents.write(intent, Holder(pid=1, since="", what=kind))
    intents.release()


def mended(desk: Desk) -> list[str]:
    done = list(mend(list(examine(desk.project))))
    assert [each.failed for each in done if each.failed] == []
    assert list(examine(desk.project)) == []
    assert Intents(desk.project.task_layout(desk.task.id)).all() == []
    return [each.done or "" for each in done]


def test_doctor_records_a_step_that_was_cut_off_in_a_closed_task(desk: Desk) -> None:
    desk.write("f", "1")
    desk.checkpoint()
    snapshot = desk.steps()[-1].snapshot
    desk.close()
    cut_off(desk, "rollback", {"target": "base", "target_step": None, "hard": False})
    assert mended(desk) == ["recorded step 0002 (interrupted)"]
    step = desk.steps()[-1]
    assert (step.status, step.snapshot, step.parent) == ("interrupted", snapshot, snapshot)
    desk.reopen()
    assert desk.read("f") == b"1"


def test_doctor_finishes_the_undo_of_an_apply_in_a_closed_task(desk: Desk) -> None:
    """The branch had moved back and the checkout had not: both come to one side."""
    desk.write("f", "1")
    applied = desk.apply(Mode.COMMIT)
    assert applied.step is not None
    done = applied_in(applied.step)
    before = done.target_before
    move: Move = move_from(done.move or {}).reversed("0123456789abcdef")
    desk.close()
    cut_off(desk, "apply", {"undoes": "0001", "move": move.as_record(), "reflog": "siding undo"})
    assert move.checkout is not None
    checkouts.take_lock(move.checkout, move.token)
    checkouts.copy_index(move.checkout, move.token)
    swap(desk.project.repository, move, reason="siding undo")
    mended(desk)
    repo = desk.sandbox.repo
    assert desk.sandbox.git("rev-parse", "main") == before
    assert not (repo / "f").exists()
    assert desk.sandbox.git("status", "--porcelain") == ""
    assert desk.steps()[-1].status == StepStatus.COMPLETED


def test_a_deleted_task_without_a_workspace_is_freed_and_comes_back(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "plan", "--no-workspace", "-m", "what is to be done")
    task = str(sandbox.json("task", "show", "plan", "--format", "json")["id"])
    archive = sandbox.project / "archives" / f"{task}.tar.gz"
    for _ in range(2):
        sandbox.siding("task", "close", "plan", "--delete", "--force")
        sandbox.siding("gc")
        assert list((sandbox.project / "trash").iterdir()) == []
        assert archive.is_file()
        assert f"{task}  plan  deleted" in sandbox.siding("gc", "--dry-run").stdout.decode()
        sandbox.siding("task", "reopen", "plan")
        shown = sandbox.json("task", "show", "plan", "--format", "json")
        assert (shown["id"], shown["status"]) == (task, "active")
        assert shown["metadata"]["description"] == "what is to be done"
        assert not archive.exists()


def old_directory(parent: Path, name: str) -> Path:
    made = parent / name / "incoming"
    made.mkdir(parents=True)
    (made / "object").write_bytes(b"x")
    long_ago = time.time() - 3600
    os.utime(parent / name, (long_ago, long_ago))
    return parent / name


def test_directories_of_dead_looks_are_swept_and_only_those(desk: Desk) -> None:
    store = desk.project.snapshots.root
    young = store / "peeks/young"
    young.mkdir(parents=True)
    living = old_directory(store / "peeks", "living")
    dead = [old_directory(store / "peeks", "dead"), old_directory(store / "applies", "dead")]
    held = hold(living)
    assert mended(desk) == ["removed 2"]
    assert not any(path.exists() for path in dead)
    assert living.exists()
    assert young.exists()
    os.close(held)
    desk.gc()
    assert not living.exists()
    assert young.exists()


def test_a_look_that_is_killed_lets_go_of_its_directory(desk: Desk) -> None:
    place = desk.project.snapshots.root / "peeks" / "killed"
    program = (
        "import sys, time; from pathlib import Path\n"
        "from siding.record.snapshots.scratch import scratch\n"
        "with scratch(Path(sys.argv[1])): print(flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(place)], stdout=subprocess.PIPE
    ) as looking:
        assert looking.stdout is not None
        looking.stdout.readline()
        os.utime(place, (0, 0))
        assert list(examine(desk.project)) == []
        looking.kill()
    assert mended(desk) == ["removed 1"]
    assert not place.exists()
