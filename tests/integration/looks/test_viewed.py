"""What a person has read of a task's change: marks and looks, over all that becomes of a task."""

import json
import os
import shlex
from pathlib import Path

import pytest

from integration.undo.desk import Desk
from prepared import prepared
from sandbox import SIDING
from siding.applying.apply import Mode
from siding.ground.errors import NotFound
from siding.looks.hunks import Patch
from siding.looks.marking import chosen, present, progress, seen, unview, view
from siding.looks.since import changed_since, keep_look, starts
from siding.looks.store import Looks

LINES = [f"line {number}" for number in range(1, 31)]


def text(*lines: str) -> str:
    return "\n".join([*lines, *LINES]) + "\n"


@pytest.fixture
def desk() -> Desk:
    desk = Desk.at(prepared(Desk))
    desk.write("a.txt", text())
    desk.write("b.txt", "of b\n")
    desk.checkpoint("two files")
    return desk


def patch_of(desk: Desk) -> Patch:
    return present(desk.project, desk.task.id)[1]


def shown(desk: Desk) -> dict[str, str]:
    found = seen(desk.project, desk.task.id, patch_of(desk))
    return {file.path: f"{file.state} {file.viewed}/{len(file.hunks)}" for file in found}


def mark(desk: Desk, *names: str) -> None:
    task, patch = present(desk.project, desk.task.id)
    view(desk.project, task.id, patch, chosen(desk.project, task, patch, names))


def since(desk: Desk, start: str) -> str:
    with changed_since(desk.project, desk.task.id, start) as found:
        return "".join(found.patch_lines())


def test_marks_stay_over_all_that_becomes_of_a_task(desk: Desk) -> None:
    mark(desk, "a.txt")
    assert shown(desk) == {"a.txt": "viewed 1/1", "b.txt": "new 0/1"}
    desk.shell("sed -i '1i first' a.txt")
    assert shown(desk)["a.txt"] == "changed 0/1"
    desk.undo()
    assert shown(desk) == {"a.txt": "viewed 1/1", "b.txt": "new 0/1"}
    desk.redo()
    assert shown(desk)["a.txt"] == "changed 0/1"
    desk.undo()
    desk.shell("mkdir d && mv a.txt d/a.txt")
    assert shown(desk) == {"b.txt": "new 0/1", "d/a.txt": "viewed 1/1"}
    desk.shell("git add -A && git commit -qm all")
    assert shown(desk)["d/a.txt"] == "viewed 1/1"
    desk.apply(Mode.SQUASH)
    assert shown(Desk.again(desk)) == {"b.txt": "new 0/1", "d/a.txt": "viewed 1/1"}


def test_marks_are_on_the_disk_once(desk: Desk) -> None:
    patch = patch_of(desk)
    for _again in range(2):
        view(desk.project, desk.task.id, patch, patch.hunks)
    assert str(progress(desk.project, desk.task.id, patch)) == "2/2 viewed"
    layout = desk.project.task_layout(desk.task.id)
    kept = (layout.looks_dir / "looks.json").read_bytes()
    again = Looks.read(layout).marks
    assert sum(map(len, again.values())) == 2
    with Looks.changing(layout):
        pass
    assert (layout.looks_dir / "looks.json").read_bytes() == kept
    for _again in range(2):
        unview(desk.project, desk.task.id, patch, patch.hunks)
    assert Looks.read(layout).marks == {}


def test_what_is_named(desk: Desk) -> None:
    desk.write("dir/c:2", "of c\n")
    task, patch = present(desk.project, desk.task.id)

    def named(*names: str) -> list[str]:
        found = chosen(desk.project, task, patch, names)
        return [f"{hunk.path} {hunk.number}" for hunk in found]

    assert named("dir") == named("dir/c:2") == named("dir/c:2:1", "dir") == ["dir/c:2 1"]
    assert named(".") == ["a.txt 1", "b.txt 1", "dir/c:2 1"]
    for wrong in ("a.txt:2", "no.txt", "c:2"):
        with pytest.raises(NotFound):
            named(wrong)


def test_since_my_last_look_turn_or_base(desk: Desk) -> None:
    assert [each.name for each in starts(desk.project, desk.task.id)] == ["base"]
    desk.write("a.txt", text("of no step"))
    (desk.root / "b.txt").chmod(0o600)
    keep_look(desk.project, desk.task.id)
    assert since(desk, "look") == ""
    desk.write("a.txt", text("of no step", "later"))
    assert "+later\n" in since(desk, "look")
    assert "+of no step" not in since(desk, "look")
    (desk.root / "b.txt").chmod(0o640)
    with changed_since(desk.project, desk.task.id, "look") as found:
        assert [(each.path, each.before, each.after) for each in found.mode_changes()] == [
            (b"b.txt", 0o600, 0o640)
        ]
    desk.shell("echo end >>a.txt")
    desk.undo()
    assert "+later\n" in since(desk, "look")
    desk.rollback(None, hard=True)  # what was seen is in no file any more
    assert "-of no step\n" in since(desk, "look")
    desk.undo()
    assert "+line 1\n" in since(desk, "base")
    keep_look(desk.project, desk.task.id)
    assert since(desk, "look") == ""
    directories = [each for each in os.scandir(_looks(desk)) if each.is_dir()]
    assert len(directories) == 1  # of the look before nothing is left
    assert [each.name for each in starts(desk.project, desk.task.id)] == ["look", "base"]
    assert [each.name for each in starts(desk.project, desk.task.id, device="phone")] == ["base"]
    with pytest.raises(NotFound):
        since(desk, "17")


def _looks(desk: Desk) -> Path:
    return desk.project.task_layout(desk.task.id).looks_dir


def test_a_look_whose_objects_are_lost_is_named(desk: Desk) -> None:
    desk.write("a.txt", text("of no step"))
    keep_look(desk.project, desk.task.id)
    for path in sorted(_looks(desk).glob("*/*/*")):
        path.unlink()
    done = desk.sandbox.siding("diff", "--from", "look", status=1)
    assert b"siding viewed --all" in done.stderr


def test_the_command_line(desk: Desk) -> None:
    def said(*words: str, status: int = 0) -> str:
        return desk.sandbox.siding(*words, status=status).stdout.decode()

    assert said("viewed") == "new       0/1  a.txt\nnew       0/1  b.txt\n"
    said("viewed", "a.txt:1")
    found = json.loads(said("viewed", "--json"))
    assert [(file["path"], file["state"]) for file in found["files"]] == [
        ("a.txt", "viewed"),
        ("b.txt", "new"),
    ]
    assert found["viewed"] == {"files": 1, "of_files": 2, "hunks": 1, "of_hunks": 2}
    said("diff", "--from", "look", status=1)
    said("viewed", "--all")
    desk.write("b.txt", "of b\nmore\n")
    assert "\n+more\n" in said("diff", "--from", "look")
    assert said("viewed").splitlines()[1] == "changed   0/1  b.txt"
    said("viewed", "--not", "a.txt")
    assert said("viewed").startswith("new       0/1  a.txt\n")
    said("viewed", "--all", "a.txt", status=2)
    said("viewed", "--not", status=2)
    said("viewed", "a.txt:7", status=1)
    inside = ("sh", "-c", f"{shlex.join(SIDING)} viewed a.txt; {shlex.join(SIDING)} viewed --all")
    done = desk.sandbox.siding("run", "--no-sandbox", "--", *inside, status=1)
    assert (done.stderr + done.stdout).count(b"marks are what a person has read") == 2
    assert said("viewed").startswith("new       0/1  a.txt\n")
