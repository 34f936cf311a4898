"""What the three widgets show, as text."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Region

from siding.faces.tui.rows.drawing import KEPT_ITEMS
from siding.faces.tui.rows.list import Column, Entry, ListView, plain, widths
from siding.faces.tui.rows.output import FileLines, TextLines
from siding.faces.tui.rows.patch import PatchRow, PatchView
from siding.faces.tui.rows.styles import MARKS, Look, Palette, Styles, names
from siding.faces.tui.rows.transcript import Note, Output, Prompt, Said, Tool, Transcript
from siding.faces.tui.rows.words import changed_words
from siding.faces.tui.text import Span
from unit.faces.tui.rows.screens import Screen, on_screen


def test_a_transcript_has_names_tools_and_colours() -> None:
    view = Transcript()

    async def act(screen: Screen) -> None:
        view.put("1", Prompt("add a hook\nthat limits"))
        view.put("2", Said("I read **a.py**:\n\n- one\n- two `x`\n\n```py\nx = 1\n```"))
        lines = TextLines(["\x1b[31mred", "b\tc"])
        view.put("3", Tool("Bash", "pytest -q", "5 passed", "2.1s", output=lines))
        view.put("4", Tool("Edit", "a very long name of a file.py", "+1", "0.1s", "bad"))
        view.put("5", Output(TextLines(["\x1b]0;t\x07plain"])))
        folded = [
            " you      add a hook",
            "          that limits",
            " agent    I read a.py:",
            "",
            "          • one",
            "          • two x",
            "",
            "          ┄┄┄ py",
            "            x = 1",
            "          ┄┄┄",
            " ▸ ✓ Bash   pytest -q  5 passed     2.1s",
            "   ✗ Edit   a very long name of a … 0.1s",
            " plain",
            "",
            "",
            "",
        ]
        assert await screen.rows() == folded
        view.toggle("3")
        opened = [*folded[:11], "              red", "              b   c", *folded[11:-2]]
        opened[10] = opened[10].replace("▸", "▾")
        assert await screen.rows() == opened
        view.toggle("3")
        assert await screen.rows() == folded
        view.toggle("4")
        assert await screen.rows() == folded, "there is nothing to unfold"

    on_screen(view, act, height=16)


def test_a_text_that_grows_is_the_text_at_once() -> None:
    text = "# Title\nsome *words*\nthat go on\n\n1. one\n2. two\n\n```\ncode\n```\nend"
    grown, whole = Transcript(), Transcript()

    async def grow(screen: Screen) -> None:
        grown.put("a", Said())
        grown.put("b", Note("after it"))
        for at in range(0, len(text), 3):
            grown.more("a", text[at : at + 3])
        await screen.rows()
        grown.ended("a")
        shown.append(await screen.rows())

    async def put(screen: Screen) -> None:
        whole.put("a", Said(text))
        whole.ended("a")
        whole.put("b", Note("after it"))
        shown.append(await screen.rows())

    shown: list[list[str]] = []
    on_screen(grown, grow, height=20)
    on_screen(whole, put, height=20)
    assert shown[0] == shown[1]
    assert " after it" in shown[0]
    assert grown.count == whole.count


def test_output_that_grows_in_the_middle() -> None:
    data = bytearray(b"one\ntw")
    lines = FileLines(lambda offset, size: bytes(data[offset : offset + size]))
    lines.look()
    view = Transcript()

    async def act(screen: Screen) -> None:
        view.put("t", Tool("Bash", "make", state="runs", output=lines))
        view.toggle("t")
        view.put("n", Note("after"))
        indent = " " * 14
        head = " ▾ ● Bash   make"
        assert await screen.rows() == [head, f"{indent}one", f"{indent}tw", " after", *[""] * 6]
        data.extend(b"o\nthree")
        lines.look()
        view.grown("t")
        shown = [head, *(f"{indent}{each}" for each in ("one", "two", "three")), " after"]
        assert await screen.rows() == [*shown, *[""] * 5]
        lines.look()
        view.grown("t")
        assert await screen.rows() == [*shown, *[""] * 5]
        view.drop("t")
        assert (await screen.rows())[:2] == [" after", ""]
        view.clear()
        assert await screen.rows() == [""] * 10

    on_screen(view, act)


def test_a_word_in_a_folded_tool_unfolds_it() -> None:
    view = Transcript()

    async def act(screen: Screen) -> None:
        view.put("t", Tool("Bash", "make", output=TextLines(["quiet", "needle"])))
        assert view.search("needle") == 2
        assert view.is_open("t")
        assert (await screen.rows())[2].strip(" >") == "needle"

    on_screen(view, act)


PATCH = [
    PatchRow("file", None, None, "src/app.py  +1 -1", mark="●"),
    PatchRow("hunk", None, None, "@@ 9,3 → 9,3  class Scaffold"),
    PatchRow("same", 9, 9, "    @setupmethod", [Span(4, 16, "c-decorator")]),
    PatchRow("delete", 10, None, "\tdef limit(self, count):"),
    PatchRow("add", None, 10, "\tdef limit(self, count, *, key=None):"),
    PatchRow("comment", None, None, "keyword only, please; 14 callers pass it by position"),
    PatchRow("note", None, None, "\\ No newline at end of file"),
    PatchRow("fold", None, None, "14 lines, o opens"),
    PatchRow("hunk", None, None, "@@ 50,1 → 50,1"),
    PatchRow("same", 50, 50, "x = 1"),
]


def test_a_patch_has_numbers_signs_comments_and_folds() -> None:
    view = PatchView(PATCH)

    async def act(screen: Screen) -> None:
        shown = await screen.rows()
        assert shown == [
            " ● src/app.py  +1 -1",
            " @@ 9,3 → 9,3  class Scaffold",
            "   9   9       @setupmethod",
            "  10     -     def limit(self, count):",
            "      10 +     def limit(self, count, *,",
            "           key=None):",
            "         │ keyword only, please; 14",
            "         │ callers pass it by position",
            " \\ No newline at end of file",
            " ┄┄┄ 14 lines, o opens ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄",
            " @@ 50,1 → 50,1",
            "  50  50   x = 1",
        ]
        assert view.jump("hunk", 1)
        assert view.cursor == 1
        assert view.jump("hunk", 1)
        assert view.cursor == 8
        assert not view.jump("hunk", 1)
        assert view.jump("comment", -1)
        assert view.cursor == 5
        view.move(1)
        assert view.cursor == 7, "a note is nothing to act on"

    on_screen(view, act, height=12)


def test_rows_that_come_and_go_leave_the_rest_where_it_is() -> None:
    rows = [PatchRow("same", n, n, f"line {n}") for n in range(1, 60)]
    view = PatchView(rows)

    async def act(screen: Screen) -> None:
        view.stand_on(30)
        before = await screen.rows()
        rows.insert(3, PatchRow("comment", None, None, "above the screen"))
        view.spliced(3, 0, 1)
        assert await screen.rows() == before
        assert view.cursor == 31
        rows[5:10] = []
        view.spliced(5, 5, 0)
        assert await screen.rows() == before
        assert rows[view.cursor].text == "line 31"
        rows.insert(view.cursor + 1, PatchRow("comment", None, None, "below the cursor"))
        view.spliced(view.cursor + 1, 0, 1)
        view.move(1)
        assert any("below the cursor" in row for row in await screen.rows())

    on_screen(view, act)


def test_an_added_line_is_filled_to_the_end_of_its_row() -> None:
    view = PatchView([PatchRow("add", None, 1, "x = 'y'", [Span(4, 7, "c-string")])])

    async def act(screen: Screen) -> None:
        await screen.rows()
        *_, last = view.render_line(0)
        assert last.text.isspace()
        assert last.style is not None
        assert last.style.bgcolor == Styles(view.look.palette)["added"].bgcolor

    on_screen(view, act)


def test_very_many_lines_are_opened_and_folded_at_once() -> None:
    data = b"line of it\n" * 40_000
    lines = FileLines(lambda offset, size: data[offset : offset + size])
    lines.look()
    view = Transcript()

    async def act(screen: Screen) -> None:
        view.put("t", Tool("Bash", "make", output=lines))
        view.put("n", Note("after"))
        assert (await screen.rows())[:3] == [" ▸ ✓ Bash   make", " after", ""]
        view.toggle("t")
        assert view.rows_total == 40_002
        view.go_to_item(20_000)
        assert set(await screen.rows()) == {" " * 14 + "line of it"}
        view.toggle("t")
        assert view.rows_total == 2
        assert (await screen.rows())[:3] == [" ▸ ✓ Bash   make", " after", ""]

    on_screen(view, act)


def test_words_that_changed() -> None:
    old, new = "def f(self, x):", "def f(self, y, z=1):"
    removed, added = changed_words(old, new)
    assert [old[start:end] for start, end in removed] == ["x"]
    assert "".join(new[start:end] for start, end in added) == "y, z=1"
    assert changed_words("a b c", "completely other words") == ([], [])
    assert changed_words("same", "same") == ([], [])


@pytest.mark.parametrize("kind", ["add", "delete"])
def test_the_words_of_a_changed_line_stand_out(kind: str) -> None:
    view = PatchView(PATCH)
    item = 3 if kind == "delete" else 4
    styles = {style for row in view.paint(item, 80) for _, style in row}
    word = "added+added-word" if kind == "add" else "removed"
    assert word in styles


COLUMNS = [Column(2), Column(6, drop=2), Column(8, takes_rest=True), Column(5, right=True, drop=1)]


@given(
    st.lists(st.tuples(st.integers(1, 9), st.booleans(), st.integers(0, 3)), max_size=6),
    st.integers(0, 60),
)
def test_columns_fit_and_those_that_matter_stay(
    made: list[tuple[int, bool, int]], total: int
) -> None:
    columns = [Column(width, takes_rest=rest, drop=drop) for width, rest, drop in made]
    found = widths(columns, total)
    shown = [at for at, size in enumerate(found) if size]
    assert all(at in shown for at, each in enumerate(columns) if not each.drop)
    gone = {each.drop for at, each in enumerate(columns) if at not in shown}
    kept = {columns[at].drop for at in shown if columns[at].drop}
    assert not gone or not kept or max(kept) <= min(gone)
    used = sum(found) + 2 * max(0, len(shown) - 1)
    if any(columns[at].drop for at in shown):
        assert used <= total
    if used <= total and any(columns[at].takes_rest for at in shown):
        assert used == total


def entries(*texts: str) -> Sequence[Entry]:
    made = []
    for text in texts:
        section, key, name = text.split(":")
        made.append(Entry(key, plain(key, "flask", name, "12m"), section))
    return made


def test_the_cursor_of_a_list_stays_on_its_row() -> None:
    view = ListView(COLUMNS)

    async def act(screen: Screen) -> None:
        view.show(entries("WAITS:a:hook", "WAITS:b:klarna", "RUNS:c:musl"))
        shown = [
            " WAITS",
            "  a   flask   hook                   12m",
            "  b   flask   klarna                 12m",
            " RUNS",
            "  c   flask   musl                   12m",
        ]
        assert (await screen.rows())[:5] == shown
        assert view.stand_on_key("b")
        view.show(entries("WAITS:c:asks!", "WAITS:a:hook", "WAITS:b:klarna", "RUNS:d:new"))
        assert view.keys == ["c", "a", "b", "d"]
        assert view.key == "b"
        assert (await screen.rows())[:6] == [
            shown[0],
            shown[4].replace("musl ", "asks!"),
            shown[1],
            shown[2].replace("  b", "> b"),
            shown[3],
            "  d   flask   new                    12m",
        ]
        view.show(entries("WAITS:c:asks!", "RUNS:d:new"))
        assert view.key == "d", "its row is gone: the nearest"
        view.show([])
        assert view.keys == []
        assert view.cursor == -1
        assert await screen.rows() == [""] * 10

    on_screen(view, act)


def test_a_narrow_list_drops_columns_and_cuts_by_cells() -> None:
    view = ListView(COLUMNS)

    async def act(screen: Screen) -> None:
        view.show([Entry("a", plain("1", "flask", "日本語のテキストです", "12m"))])
        assert (await screen.rows())[0] == "  1   日本語の…    12m"
        await screen.resize(60, 10)
        assert (await screen.rows())[0].split() == ["1", "flask", "日本語のテキストです", "12m"]
        await screen.resize(14, 10)
        assert (await screen.rows())[0] == "  1   日本語…"

    on_screen(view, act, width=22)


def test_every_style_is_known_in_every_palette_and_every_mark_in_ascii() -> None:
    for palette in Palette:
        styles = Styles(palette)
        for name in names():
            assert (styles[name].color is None) or palette is not Palette.NONE
        assert styles["added+hit"] != styles["added"]
    for name in MARKS:
        assert Look(is_ascii=True).mark(name).isascii()


def test_what_is_kept_of_many_lines_is_bounded() -> None:
    data = b"".join(b"line %d\n" % number for number in range(20_000))
    lines = FileLines(lambda offset, size: data[offset : offset + size])
    lines.look()
    view = Transcript()

    async def act(_screen: Screen) -> None:
        view.put("o", Output(lines))
        for row in range(0, 20_000, 200):
            view.go_to_row(row)
            view.render_lines(Region(0, 0, 40, 10))
        assert len(view._drawing._kept) == KEPT_ITEMS
        assert len(lines._kept) <= 8

    on_screen(view, act)
