"""Viewed marks: they hold as long as the text of their hunk is there, and never for another."""

from pathlib import Path

import pytest

from siding.looks.hunks import Hunk, Patch
from siding.looks.marks import Marks, State, marked, progress_of, seen_in, unmarked
from unit.looks.trees import Tree, Trees

LINES = [f"line {number}" for number in range(1, 101)]


def text(*changes: tuple[int, str | None], lines: list[str] = LINES, end: str = "\n") -> bytes:
    """Return the lines with some of them replaced, or taken out."""
    found = dict(enumerate(lines, 1))
    for number, said in changes:
        found[number] = said if said is not None else ""
    gone = {number for number, said in changes if said is None}
    return "".join(line + end for at, line in found.items() if at not in gone).encode()


BASE: Tree = {"a.txt": text(), "b.txt": b"one\ntwo\n"}
ONE, TWO = (10, "ten"), (80, "eighty")


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


def states(patch: Patch, marks: Marks) -> dict[str, list[str]]:
    return {
        file.path: [f"{each.hunk.number} {each.state}" for each in file.hunks]
        for file in seen_in(patch, marks)
    }


def all_of(patch: Patch, *numbers: int) -> list[Hunk]:
    return [hunk for hunk in patch.hunks if not numbers or hunk.number in numbers]


def test_a_mark_stays_with_its_text(trees: Trees) -> None:
    first = trees.patch(BASE, {**BASE, "a.txt": text(ONE, TWO)})
    marks = marked({}, first, all_of(first, 2))
    assert states(first, marks) == {"a.txt": ["1 new", "2 viewed"]}
    assert str(progress_of(seen_in(first, marks))) == "0/1 viewed"
    # Lines before it make no difference, nor does what becomes of another hunk.
    moved = trees.patch(BASE, {**BASE, "a.txt": text((1, "1\nnew\nnew"), (40, None), TWO)})
    assert states(moved, marks)["a.txt"][-1] == "3 viewed"
    # Its own text does, and so does a line that joins it.
    for other in (text(ONE, (80, "EIGHTY")), text(ONE, TWO, (82, "more")), text(ONE, (80, None))):
        patch = trees.patch(BASE, {**BASE, "a.txt": other})
        assert states(patch, marks) == {"a.txt": ["1 new", "2 changed"]}
    gone = trees.patch(BASE, {**BASE, "a.txt": text(ONE)})
    assert states(gone, marks) == {"a.txt": ["1 new"]}
    assert states(first, marks) == {"a.txt": ["1 new", "2 viewed"]}  # it came back


def test_a_mark_is_taken_off_and_put_on_again(trees: Trees) -> None:
    patch = trees.patch(BASE, {**BASE, "a.txt": text(ONE, TWO)})
    marks = marked({}, patch, all_of(patch))
    assert str(progress_of(seen_in(patch, marks))) == "1/1 viewed"
    off = unmarked(marks, patch, all_of(patch, 1))
    assert states(patch, off) == {"a.txt": ["1 new", "2 viewed"]}
    assert unmarked(off, patch, all_of(patch, 1)) == off
    assert unmarked(off, patch, all_of(patch)) == {}
    assert states(patch, marked(off, patch, all_of(patch, 1))) == states(patch, marks)


def test_marks_follow_a_file_that_is_renamed(trees: Trees) -> None:
    patch = trees.patch(BASE, {**BASE, "a.txt": text(ONE, TWO), "new": b"of now\n"})
    marks = marked({}, patch, all_of(patch))
    renamed: Tree = {"b.txt": BASE["b.txt"], "d/c.txt": text(ONE, TWO), "other": b"of now\n"}
    found = trees.patch(BASE, renamed)
    assert states(found, marks) == {"d/c.txt": ["1 viewed", "2 viewed"], "other": ["1 viewed"]}
    off = unmarked(marks, found, all_of(found))
    assert set(states(found, off)["other"] + states(found, off)["d/c.txt"]) == {"1 new", "2 new"}
    changed = trees.patch(BASE, {**renamed, "d/c.txt": text((10, "TEN"), TWO)})
    assert states(changed, marks)["d/c.txt"] == ["1 changed", "2 viewed"]
    # Two that could be the one that was renamed: neither is.
    both = trees.patch(BASE, {**BASE, "x": b"of now\n", "y": b"of now\n"})
    assert states(both, marks) == {"x": ["1 new"], "y": ["1 new"]}
    marks = marked({}, both, both.hunks)
    moved = trees.patch(BASE, {**BASE, "v": b"of now\n", "w": b"of now\n"})
    assert states(moved, marks) == {"v": ["1 new"], "w": ["1 new"]}


def test_the_same_text_elsewhere_is_not_viewed(trees: Trees) -> None:
    patch = trees.patch(BASE, {**BASE, "x": b"same\n", "y": b"same\n"})
    marks = marked({}, patch, [patch.hunks[0]])
    assert states(patch, marks) == {"x": ["1 viewed"], "y": ["1 new"]}
    left = trees.patch(BASE, {**BASE, "y": b"same\n"})
    assert states(left, marks) == {"y": ["1 new"]}  # it was there, and nobody read it


def test_two_hunks_with_one_text_in_a_file(trees: Trees) -> None:
    block = ["a", "b", "c", "old", "d", "e", "f"]
    before = {"a.txt": text(lines=block * 3)}
    after = {"a.txt": text((4, "new"), (18, "new"), lines=block * 3)}
    patch = trees.patch(before, after)
    assert [(hunk.nth, hunk.of) for hunk in patch.hunks] == [(1, 2), (2, 2)]
    marks = marked({}, patch, [patch.hunks[1]])
    assert states(patch, marks) == {"a.txt": ["1 new", "2 viewed"]}
    alone = trees.patch(before, {"a.txt": text((18, "new"), lines=block * 3)})
    assert states(alone, marks) == {"a.txt": ["1 new"]}  # it is not certain which one this is
    both = marked(marks, patch, [patch.hunks[0]])
    assert states(patch, both) == {"a.txt": ["1 viewed", "2 viewed"]}
    assert states(alone, both) == {"a.txt": ["1 viewed"]}
    third = trees.patch(
        before, {"a.txt": text((4, "new"), (11, "new"), (18, "new"), lines=block * 3)}
    )
    assert "3 viewed" not in states(third, both)["a.txt"]
    assert states(patch, unmarked(both, patch, [patch.hunks[1]])) == {
        "a.txt": ["1 viewed", "2 new"]
    }


def test_what_is_in_no_line(trees: Trees) -> None:
    base: Tree = {**BASE, "run": b"x\n", "bin": b"\0" * 99, "r": b"1\n2\n3\n4\n"}
    after: Tree = {
        **BASE,
        "run": (b"x\n", 0o755),
        "bin": b"\0" * 98 + b"1",
        "empty": b"",
        "moved": b"1\n2\n3\n4\n",
        "script": (b"y\n", 0o755),
    }
    patch = trees.patch(base, after)
    marks = marked({}, patch, all_of(patch))
    found = states(patch, marks)
    assert found.pop("script") == ["0 viewed", "1 viewed"]
    assert found == {name: ["0 viewed"] for name in ("run", "bin", "empty", "moved")}
    gone = trees.patch({"gone": b"", "b": b"\0"}, {})
    assert [(hunk.path, hunk.number) for hunk in gone.hunks] == [("b", 0), ("gone", 0)]
    other = trees.patch(
        base, {**after, "bin": b"\0" * 98 + b"2", "script": b"y\n", "run": (b"x2\n", 0o755)}
    )
    found = states(other, marks)
    assert (found["bin"], found["script"]) == (["0 changed"], ["1 viewed"])
    assert found["run"] == ["0 viewed", "1 new"]


def test_the_end_of_a_file_and_the_ends_of_lines(trees: Trees) -> None:
    base: Tree = {"a.txt": b"one\ntwo\n", "b.txt": b"one\r\ntwo\r\n"}
    patch = trees.patch(base, {"a.txt": b"one\ntwo", "b.txt": b"one\r\nTWO\r\n"})
    marks = marked({}, patch, all_of(patch))
    again = trees.patch(base, {"a.txt": b"one\ntwo\n\n", "b.txt": b"one\r\nTWO\n"})
    assert states(again, marks) == {"a.txt": ["1 changed"], "b.txt": ["1 changed"]}
    assert states(patch, marks) == {"a.txt": ["1 viewed"], "b.txt": ["1 viewed"]}


def test_lines_that_look_like_a_patch(trees: Trees) -> None:
    said = b"diff --git a/x b/x\n@@ -1,2 +3,4 @@\n--- a/x\n+++ b/y\nrename to z\n\\ no\n"
    name = 'sp ace "q" \t\u00e9'
    patch = trees.patch({"a": said}, {"a": said.replace(b"x", b"X"), name: said})
    assert [(hunk.path, hunk.number) for hunk in patch.hunks] == [("a", 1), (name, 1)]
    assert patch.hunks[1].new == (1, 6)


def test_a_base_that_was_moved(trees: Trees) -> None:
    """Line numbers of two bases are not compared: what is not viewed may have been."""
    patch = trees.patch(BASE, {**BASE, "a.txt": text(ONE, TWO)})
    marks = marked({}, patch, all_of(patch, 1))
    other = {**BASE, "a.txt": text((10, "TEN"), TWO)}
    assert states(trees.patch(BASE, other), marks)["a.txt"] == ["1 changed", "2 new"]
    moved = trees.patch(BASE, other, base="other")
    assert {each.state for file in seen_in(moved, marks) for each in file.hunks} == {State.CHANGED}


def test_many_hunks_are_read_in_one_pass(trees: Trees) -> None:
    before = [f"{number}" for number in range(80_000)]
    after = [f"{number}!" if number % 10 == 5 else f"{number}" for number in range(80_000)]
    patch = trees.patch({"a": text(lines=before)}, {"a": text(lines=after)})
    marks = marked({}, patch, patch.hunks[::2])
    (file,) = seen_in(patch, marks)
    assert (len(file.hunks), file.viewed) == (8_000, 4_000)
