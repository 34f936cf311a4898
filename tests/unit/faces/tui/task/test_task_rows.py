"""The rows of a patch as the screen counts them, and where a row is in another patch."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from siding.faces.tui.places.task.anchors import Found, anchor_of, far, near
from siding.faces.tui.places.task.changes import Change, Since
from siding.faces.tui.places.task.source import File, Note, PatchSource, Shape
from siding.faces.tui.places.task.white import white_hunks
from siding.record.recording.recorded_patches import parts_of
from siding.record.recording.step_details import Span

PATCH = """\
diff --git a/long.txt b/long.txt
index 1111111..2222222 100644
--- a/long.txt
+++ b/long.txt
@@ -3,4 +3,5 @@ head
 three
-four
+vier
+fuenf
 five
 six
@@ -20,3 +21,2 @@ other
 twenty
-gone
 end
diff --git a/new.txt b/new.txt
new file mode 100755
index 0000000..3333333
--- /dev/null
+++ b/new.txt
@@ -0,0 +1,2 @@
+one
+two
\\ No newline at end of file
diff --git a/pic.png b/pic.png
index 1111111..2222222 100644
Binary files a/pic.png and b/pic.png differ
"""


def shape_of(directory: Path, text: str = PATCH, notes: tuple[str, ...] = ()) -> Shape:
    path = directory / f"{len(list(directory.iterdir()))}.patch"
    path.write_text(text)
    span = Span(path=path, offset=0, size=path.stat().st_size)
    return Shape(Change(Since(), "t", "a", "b", span, tuple(parts_of(span)), notes))


def source_of(
    directory: Path, files: Mapping[int, File] | None = None, text: str = PATCH
) -> PatchSource:
    texts = {0: [f"line {number}" for number in range(1, 31)]}
    return PatchSource(shape_of(directory, text), files, texts)


def shown(source: PatchSource) -> list[str]:
    """Return the rows in one line each: kind, numbers, text."""
    rows = (source[item] for item in range(len(source)))
    return [f"{row.kind} {row.old or ''}:{row.new or ''} {row.text}" for row in rows]


def test_all_rows_in_their_order(tmp_path: Path) -> None:
    assert shown(source_of(tmp_path)) == [
        "file : long.txt  +2 -2",
        "fold : 2 lines, enter opens",
        "hunk : @@ -3,4 +3,5 @@ head",
        "same 3:3 three",
        "delete 4: four",
        "add :4 vier",
        "add :5 fuenf",
        "same 5:6 five",
        "same 6:7 six",
        "fold : 13 lines, enter opens",
        "hunk : @@ -20,3 +21,2 @@ other",
        "same 20:21 twenty",
        "delete 21: gone",
        "same 22:22 end",
        "fold : the rest of the file, enter opens",
        "file : new.txt  +2 -0  new",
        "hunk : @@ -0,0 +1,2 @@",
        "add :1 one",
        "add :2 two",
        "note : No newline at end of file",
        "file : pic.png  binary",
        "note : binary: its bytes differ, and there are no lines to show",
    ]


def test_every_item_says_where_it_is_and_is_found_there(tmp_path: Path) -> None:
    source = source_of(tmp_path, {0: File(opened=frozenset({1}))})
    for item in range(len(source)):
        at = source.at(item)
        if at.row >= 0:
            assert source.item_of(at.file, row=at.row) == item
        elif at.kind == "file":
            assert source.item_of(at.file) == item
        again = near(anchor_of(source, item), source).item
        assert again == item or source[item].kind == "note", (item, again)


def test_an_opened_fold_has_the_numbers_of_both_sides(tmp_path: Path) -> None:
    source = source_of(tmp_path, {0: File(opened=frozenset({0, 1, 2}))})
    rows = shown(source)
    assert rows[1:3] == ["same 1:1 line 1", "same 2:2 line 2"]
    assert rows[10] == "same 7:8 line 8"
    assert rows[22] == "same 19:20 line 20"
    assert rows[27:36][:1] == ["same 23:23 line 23"]
    assert rows[34] == "same 30:30 line 30"


@pytest.mark.parametrize(
    ("note", "after"),
    [
        (Note("c1", False, 5, "you", "said"), "add :5 fuenf"),
        (Note("c1", True, 4, "you", "said"), "delete 4: four"),
        (Note("c1", True, 21, "you", "said"), "delete 21: gone"),
        (Note("c1", True, 20, "you", "said"), "same 20:21 twenty"),
        (Note("c1", False, 15, "you", "said"), "file : long.txt  +2 -2"),  # its line is in a fold
        (Note("c1", False, 0, "you", "said"), "file : long.txt  +2 -2"),  # stale
    ],
)
def test_a_comment_stands_below_its_line_or_below_the_title(
    tmp_path: Path, note: Note, after: str
) -> None:
    source = source_of(tmp_path, {0: File(comments=[note])})
    rows = shown(source)
    at = rows.index("comment : you")
    assert rows[at - 1] == after
    assert rows[at + 1 : at + 3] == ["comment : said", "comment : e edit · d delete"]
    assert len(rows) == len(source_of(tmp_path)) + 3
    assert source.item_of(0, comment="c1") == at
    assert source.at(at).comment == "c1"


def test_two_comments_on_one_line_stand_in_their_order(tmp_path: Path) -> None:
    notes = [Note("c1", False, 4, "first", "a"), Note("c2", False, 4, "second", "b")]
    rows = shown(source_of(tmp_path, {0: File(comments=notes)}))
    assert rows.index("comment : first") < rows.index("comment : second")
    assert rows[rows.index("comment : second") + 3] == "add :5 fuenf"


def test_what_a_comment_is_about(tmp_path: Path) -> None:
    source = source_of(tmp_path)
    assert source.lines_of([4]) == (0, True, 4, 4)
    assert source.lines_of([4, 5, 6]) == (0, False, 4, 5)
    assert source.lines_of([3, 4, 5, 6, 7]) == (0, False, 3, 6)
    assert source.lines_of([0, 1, 2]) is None
    assert source.lines_of(list(range(3, 19))) is None  # of two files


def test_a_folded_file_is_its_title_and_a_hidden_hunk_its_head(tmp_path: Path) -> None:
    rows = shown(source_of(tmp_path, {0: File(folded=True)}))
    assert rows[:2] == ["file : long.txt  +2 -2  11 rows folded", "file : new.txt  +2 -0  new"]
    rows = shown(source_of(tmp_path, {0: File(hides=frozenset({0}))}))
    assert rows[2:4] == [
        "hunk : @@ -3,4 +3,5 @@ head  only white space, w shows it",
        "fold : 13 lines, enter opens",
    ]


def test_white_space_alone_is_told_from_a_change(tmp_path: Path) -> None:
    text = PATCH.replace("-four\n+vier\n+fuenf\n", "-a b\n+ab\n+\t\n")
    assert white_hunks(shape_of(tmp_path, text)) == {0: frozenset({0})}
    assert white_hunks(shape_of(tmp_path)) == {}


def test_a_line_is_found_again_where_it_went(tmp_path: Path) -> None:
    before = source_of(tmp_path)
    moved = PATCH.replace("@@ -3,4 +3,5 @@ head\n three", "@@ -3,4 +3,6 @@ head\n+new\n three")
    after = source_of(tmp_path, text=moved)
    for text in ("three", "four", "vier", "fuenf", "six", "gone", "one"):
        item = next(n for n in range(len(before)) if before[n].text == text)
        found = near(anchor_of(before, item), after)
        assert found.is_sure
        assert after[found.item].text == text
    gone = near(anchor_of(before, 5), source_of(tmp_path, text=PATCH.replace("+vier", "+4")))
    assert after.at(gone.item).file == 0
    lost = PATCH.replace("long.txt", "other.txt")
    assert near(anchor_of(before, 5), source_of(tmp_path, text=lost)) == Found(-1)


def grown(directory: Path, *lines: str) -> PatchSource:
    """Return the rows of a patch that adds these lines to an empty file."""
    head = "diff --git a/a b/a\nindex 1111111..2222222 100644\n--- a/a\n+++ b/a\n"
    body = "".join(f"+{line}\n" for line in lines)
    return source_of(directory, text=f"{head}@@ -0,0 +1,{len(lines)} @@\n{body}")


@pytest.mark.parametrize("line", [1, 399, 400, 401, 1201, 2999, 3000])
@pytest.mark.parametrize("before", [0, 1, 399, 401, 1200, 5000])
def test_a_line_is_found_however_far_it_went(tmp_path: Path, line: int, before: int) -> None:
    texts = [f"line {number}" for number in range(1, 3001)]
    old = grown(tmp_path, *texts)
    new = grown(tmp_path, *(f"new {number}" for number in range(before)), *texts)
    anchor = anchor_of(old, old.item_of(0, row=line))
    assert anchor is not None
    found = near(anchor, new)
    assert found.is_sure or before > 400
    assert not found.is_sure or before < 1200
    item = found.item if found.is_sure else far(anchor, new)
    assert new[item].text == f"line {line}"


def test_a_line_that_is_gone_is_the_nearest_one(tmp_path: Path) -> None:
    texts = [f"line {number}" for number in range(1, 3001)]
    old, new = grown(tmp_path, *texts), grown(tmp_path, *texts[:1499], "other", *texts[1500:])
    anchor = anchor_of(old, old.item_of(0, row=1500))
    assert anchor is not None
    found = near(anchor, new)
    assert (new[found.item].text, found.is_sure) == ("other", False)
    assert far(anchor, new) == found.item


@pytest.mark.parametrize("line", [1, 2, 399, 400, 401, 2500, 3000])
def test_a_comment_stands_below_its_line_in_a_long_hunk(tmp_path: Path, line: int) -> None:
    note = Note("c1", False, line, "you", "why")
    source = grown(tmp_path, *(f"line {number}" for number in range(1, 3001)))
    source = PatchSource(source.shape, {0: File(comments=(note,))})
    assert source[source.item_of(0, comment="c1") - 1].text == f"line {line}"


def test_the_lines_of_both_sides_are_found_by_their_numbers(tmp_path: Path) -> None:
    shape = shape_of(tmp_path)
    for is_old in (False, True):
        numbers = [
            (number, row.old if is_old else row.new)
            for number in range(shape.change.parts[0].rows)
            for row in (shape.row(0, number),)
            if row.kind != "hunk"
        ]
        there = {line: number for number, line in numbers if line is not None}
        for line in range(40):
            assert shape.row_of_line(0, line, is_old=is_old) == there.get(line, -1)


def test_lines_that_look_like_headers_are_lines(tmp_path: Path) -> None:
    text = (
        "diff --git a/a b/a\nindex 1111111..2222222 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n"
        "--- old\n+++ new\n @@ -1 +1 @@\n@@ -9 +9 @@\n-x\n+y\n"
    )
    shape = shape_of(tmp_path, text)
    assert [(each.row, each.old, each.new) for each in shape.hunks[0]] == [(0, 1, 1), (4, 9, 9)]
    rows = shown(PatchSource(shape))
    assert rows[2:5] == ["delete 1: -- old", "add :1 ++ new", "same 2:2 @@ -1 +1 @@"]


def test_the_rest_of_a_file_that_had_no_lines_is_counted_from_one(tmp_path: Path) -> None:
    text = (
        "diff --git a/long.txt b/long.txt\nindex 1111111..2222222 100644\n"
        "--- a/long.txt\n+++ b/long.txt\n@@ -0,0 +1 @@\n+one\n"
    )
    source = source_of(tmp_path, {0: File(opened=frozenset({1}))}, text)
    assert shown(source)[3] == "same 1:2 line 2"


def test_notes_of_the_whole_change_stand_at_the_end(tmp_path: Path) -> None:
    shape = shape_of(tmp_path, PATCH, ("permissions: run.sh (0644 to 0600)",))
    source = PatchSource(shape)
    last = len(source) - 1
    assert source[last].text == "permissions: run.sh (0644 to 0600)"
    assert source.at(last).file == -1
    assert anchor_of(source, last) is None
