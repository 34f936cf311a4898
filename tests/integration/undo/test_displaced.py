"""What going back replaces: named if another program wrote it meanwhile, else freed by `gc`."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from siding.faces.plans.acts import carry_out, plan
from siding.faces.plans.plan import ActRequest
from siding.ground.files import exchange
from siding.ground.files.exchange import Entry
from siding.record.ledger.move_details import RollbackDetail
from siding.record.restoring.rollback import RolledBack
from siding.upkeep import doctor
from siding.upkeep.doctor import examine

from .desk import Desk


@pytest.fixture
def at_first_exchange(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[Callable[[], None]], None]]:
    """Have a writer work when the first file is about to be replaced, after every look at it."""
    real = exchange._renameat2
    writers: list[Callable[[], None]] = []

    def renameat2(source: Entry, target: Entry, flags: int) -> None:
        if writers:
            writers.pop()()
        real(source, target, flags)

    monkeypatch.setattr(exchange, "_renameat2", renameat2)
    yield writers.append
    assert writers == [], "nothing was exchanged"


def changed(desk: Desk) -> None:
    """One step that changes, deletes and makes a file."""
    desk.shell("echo agent >> hello.txt; rm src/a.py; echo new > new.txt; echo late > zz.txt")


def detail(done: RolledBack) -> RollbackDetail:
    found = done.restored.step.as_rollback
    assert found is not None
    return found


def displaced(desk: Desk) -> list[Path]:
    return list(desk.project.layout.trash_dir.glob("*/displaced"))


def test_versions_that_others_saved_meanwhile(
    desk: Desk, at_first_exchange: Callable[[Callable[[], None]], None]
) -> None:
    changed(desk)

    def save() -> None:
        desk.write("hello.txt", b"hers")  # is replaced
        desk.write("src/a.py", b"hers, too")  # is made
        desk.write("more.txt", b"beside")  # has nothing to do with it

    at_first_exchange(save)
    done = desk.rollback(None)
    assert [each.path for each in done.restored.kept] == [b"hello.txt", b"src/a.py"]
    kept = [desk.project.layout.root / path for path in detail(done).kept]
    assert [path.read_bytes() for path in kept] == [b"hers", b"hers, too"]
    assert done.restored.kept_in == kept[0].parent
    assert desk.read("hello.txt") == b"hello\n"
    assert desk.read("more.txt") == b"beside"
    assert desk.gc().displaced > 0
    assert [path.read_bytes() for path in kept] == [b"hers", b"hers, too"]


def test_the_dashboard_says_where_they_are(
    desk: Desk, at_first_exchange: Callable[[Callable[[], None]], None]
) -> None:
    changed(desk)
    wish = ActRequest("rollback", step="base")
    digest = plan(desk.project, desk.task.id, wish).digest
    at_first_exchange(lambda: desk.write("hello.txt", b"hers"))
    said = carry_out(desk.project, desk.task.id, wish, digest).said
    before, _, place = said.partition(": its version is in ")
    assert before == "back to the base; 1 file written during this by another program"
    assert Path(place, "hello.txt").read_bytes() == b"hers"


def test_a_program_that_goes_on_writing(desk: Desk) -> None:
    changed(desk)
    script = (
        "import sys; f = open(sys.argv[1], 'a'); print(flush=True); sys.stdin.read(); "
        "f.write('later'); f.close()"
    )
    argv = [sys.executable, "-c", script, str(desk.root / "hello.txt")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        done = desk.rollback(None)
        assert [each.why.value for each in done.restored.kept] == ["still open for writing"]
        desk.gc()
        writer.communicate()
    (path,) = detail(done).kept
    assert (desk.project.layout.root / path).read_bytes() == b"hello\nagent\nlater"
    assert desk.read("hello.txt") == b"hello\n"


def test_what_was_replaced_is_there_until_gc(desk: Desk) -> None:
    changed(desk)
    inodes = {os.stat(desk.root / name).st_ino for name in ("hello.txt", "new.txt", "zz.txt")}
    done = desk.rollback(None)
    assert done.restored.kept == ()
    (place,) = displaced(desk)
    assert f"{place.parent.parent.name}/{place.parent.name}" == (detail(done).displaced)
    assert {entry.stat().st_ino for entry in place.iterdir() if entry.name != "names"} == inodes
    assert desk.gc(dry_run=True).displaced > 0
    assert displaced(desk) == [place]
    assert desk.gc().displaced > 0
    assert displaced(desk) == []
    assert list(desk.project.layout.trash_dir.iterdir()) == []
    desk.undo()
    assert desk.read("hello.txt") == b"hello\nagent\n"


def test_gc_keeps_what_the_snapshots_lost(desk: Desk) -> None:
    """The displaced file may be all that is left of a version."""
    changed(desk)
    desk.rollback(None)
    (place,) = displaced(desk)
    for pack in desk.project.snapshots.objects.glob("pack/*"):
        pack.unlink()
    desk.gc()
    assert b"hello\nagent\n" in [path.read_bytes() for path in place.iterdir()]


def test_nothing_was_replaced(desk: Desk) -> None:
    """Then there is no place in the trash, and the step names none."""
    desk.shell("rm hello.txt")
    done = desk.rollback(None)
    assert detail(done).displaced == ""
    assert not desk.project.layout.trash_dir.exists() or not displaced(desk)


def test_a_file_system_that_cannot_exchange(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(examine(desk.project)) == []
    monkeypatch.setattr(exchange, "_CALL", exchange._no_call)
    monkeypatch.setattr(doctor, "file_system_of", lambda _path: "nfs4")
    (found,) = examine(desk.project)
    assert "(nfs4) cannot exchange" in found.what
    before = desk.tree()
    changed(desk)
    after = desk.tree()
    desk.rollback(None)
    assert desk.tree() == before
    desk.undo()
    assert desk.tree() == after
    desk.gc()
    assert displaced(desk) == []
