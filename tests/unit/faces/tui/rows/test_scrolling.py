"""What a person looks at stays where it is."""

from textual.geometry import Region
from textual.scroll_view import ScrollView

from siding.faces.tui.rows.list import ListView
from siding.faces.tui.rows.patch import PatchView
from siding.faces.tui.rows.styles import Look, Palette
from siding.faces.tui.rows.transcript import Note, Prompt, Said, Transcript
from unit.faces.tui.rows.screens import Screen, on_screen

WORDS = "alpha beta gamma delta epsilon zeta eta theta"


def filled(count: int, text: str = "") -> Transcript:
    view = Transcript()
    for number in range(count):
        view.put(f"n{number}", Note(f"line {number} {text}".rstrip()))
    return view


TEXTUALS = {name for name in vars(type("Made", (ScrollView,), {})) if name[:2] != "__"}
MEANT = {
    *("render_line", "render_lines", "get_selection", "selection_updated", "watch_scroll_y"),
    *("action_scroll_up", "action_scroll_down", "action_page_up", "action_page_down"),
    *("action_scroll_home", "action_scroll_end", "DEFAULT_CSS"),
}


def test_no_name_of_ours_is_one_of_the_widgets() -> None:
    theirs = set(dir(ScrollView))
    for made in (Transcript(), PatchView(), ListView([])):
        ours = set(vars(made)) - set(vars(ScrollView()))
        assert "_heights" in ours
        assert not ours & theirs, "an attribute hides what Textual has"
        classes = type(made).__mro__[: type(made).__mro__.index(ScrollView)]
        defined = {name for each in classes for name in vars(each) if not name.startswith("__")}
        assert (defined & theirs) - TEXTUALS == MEANT


def test_the_end_is_followed_while_it_is_on_the_screen() -> None:
    view = filled(30)

    async def act(screen: Screen) -> None:
        assert (await screen.rows())[-1] == " line 29"
        view.put("a", Note("more"))
        assert (await screen.rows())[-1] == " more"
        view.scroll_rows(-3)
        before = await screen.rows()
        view.put("b", Note("below"))
        view.put("c", Prompt("two\nlines"))
        assert view.new_rows == 3
        after = await screen.rows()
        assert after[:-1] == before[:-1]
        assert after[-1].endswith("▼ 3 new lines, end follows")
        view.go_to_end()
        assert view.new_rows == 0
        assert (await screen.rows())[-1] == "          lines"
        view.put("d", Note("followed again"))
        assert (await screen.rows())[-1] == " followed again"

    on_screen(view, act)


def test_what_is_on_the_screen_stays_when_lines_above_it_change() -> None:
    view = filled(50)

    async def act(screen: Screen) -> None:
        view.go_to_item(20)
        before = await screen.rows()
        assert before[0] == " line 20"
        view.put("n3", Prompt("one\ntwo\nthree"))
        assert await screen.rows() == before
        view.drop("n4")
        assert await screen.rows() == before
        view.put("n3", Note("one again"))
        assert await screen.rows() == before
        view.go_to_row(0)
        assert "one again" in "".join(await screen.rows())

    on_screen(view, act)


def test_a_place_comes_back_at_every_width_and_after_it() -> None:
    view = filled(400, WORDS)

    async def act(screen: Screen) -> None:
        view.go_to_item(200)
        view.scroll_rows(1)
        wide = await screen.rows()
        place = view.place
        for width in (25, 60, 12, 40):
            await screen.resize(width, 10)
            shown = await screen.rows()
            assert view.place == place, "nobody has scrolled"
            assert 200 <= view.item_at(0) <= 200
            assert max(map(len, shown)) <= width
        assert await screen.rows() == wide
        await screen.measured()
        assert await screen.rows() == wide
        assert view.rows_total == sum(view.measure(item, 39) for item in range(400))

    on_screen(view, act)


def test_near_the_end_a_narrow_screen_and_back_is_the_same_place() -> None:
    view = filled(300, WORDS)

    async def act(screen: Screen) -> None:
        view.go_to_end()
        view.scroll_rows(-4)
        before = await screen.rows()
        await screen.resize(15, 10)
        await screen.rows()
        await screen.resize(40, 10)
        assert await screen.rows() == before

    on_screen(view, act)


def test_stepping_shows_each_row_once_and_back_the_same() -> None:
    view = Transcript()
    for number in range(700):
        view.put(f"n{number}", Note(f"{number} {WORDS[: number % 40]}"))

    def first_row() -> str:
        return view.render_lines(Region(0, 0, 24, 1))[0].text

    async def act(screen: Screen) -> None:
        await screen.rows()
        view.go_to_row(0)
        down = [first_row()]
        for _ in range(60):
            view.scroll_rows(1)
            down.append(first_row())
        up = [down[-1]]
        for _ in range(60):
            view.scroll_rows(-1)
            up.append(first_row())
        assert down == up[::-1]
        assert len(set(down)) > 30
        assert view.top_row == 0

    on_screen(view, act, width=24)


def test_a_jump_into_what_is_not_measured_lands_on_its_item() -> None:
    texts = [f"{number} {WORDS}" for number in range(5_000)]
    view = Transcript()
    view.put("all", Said("\n\n".join(texts)))

    async def act(screen: Screen) -> None:
        view.go_to_item(6_000)
        first = (await screen.rows())[0]
        assert first.strip().startswith("3000 alpha")
        await screen.measured()
        assert (await screen.rows())[0] == first
        view.scroll_rows(-1)
        view.scroll_rows(1)
        assert (await screen.rows())[0] == first

    on_screen(view, act, width=30)


def test_the_cursor_is_on_the_screen_wherever_it_goes() -> None:
    view = filled(100, WORDS)

    async def act(screen: Screen) -> None:
        view.go_to_row(0)
        view.move(1)
        assert (await screen.rows())[0].startswith(">line 0")
        for key in ("down", "pagedown", "end", "up", "pageup", "home"):
            view.focus()
            await screen.pilot.press(key)
            shown = [row for row in await screen.rows() if row.startswith(">")]
            assert shown
            assert shown[0].startswith((f">line {view.cursor} ", ">t"))
        assert view.cursor == 0
        view.stand_on(3)
        view.begin_range()
        view.move(2)
        assert view.chosen_range == range(3, 6)
        marks = [row[:1] + row[5:7] for row in await screen.rows() if row[:1] in ("┃", ">")]
        assert [mark for mark in marks if mark[1:].strip()]
        assert {mark[0] for mark in marks[:-1]} == {"┃", ">"}
        view.end_range()
        assert view.chosen_range == range(5, 6)

    on_screen(view, act, height=20)


def test_a_word_is_found_round_the_end_and_marked() -> None:
    view = filled(100)

    async def act(screen: Screen) -> None:
        view.go_to_row(0)
        assert view.search("LINE 7") == 7
        assert [view.next_hit() for _ in range(10)] == [*range(70, 80)]
        assert view.next_hit() == 7
        assert view.next_hit(-1) == 79
        strip = view.render_line(view.cursor - view.item_at(0))
        marked = [
            text
            for text, style, _ in strip
            if style and style.bgcolor and "#e3b341" in str(style.bgcolor.name)
        ]
        assert marked == ["line 7"]
        assert view.search("nowhere") == -1
        assert view.cursor == 79

    on_screen(view, act)


def test_without_colours_and_unicode_every_state_has_a_mark() -> None:
    view = filled(30)
    view.use(Look(Palette.NONE, is_ascii=True))

    async def act(screen: Screen) -> None:
        view.scroll_rows(-5)
        view.put("x", Note("new"))
        view.move(1)
        shown = "\n".join(await screen.rows())
        assert shown.isascii()
        assert "v 1 new line" in shown
        assert "\n>" in "\n" + shown

    on_screen(view, act)


def test_text_is_selected_with_the_mouse() -> None:
    view = filled(30)

    async def act(screen: Screen) -> None:
        view.go_to_row(0)
        await screen.rows()
        await screen.pilot.mouse_down(view, offset=(1, 2))
        await screen.pilot.hover(view, offset=(6, 3))
        await screen.pilot.mouse_up(view, offset=(6, 3))
        assert screen.pilot.app.screen.get_selected_text() == "line 2\nline 3"

    on_screen(view, act)


def test_a_widget_with_padding_is_drawn_inside_it() -> None:
    view = filled(30)
    view.styles.padding = (1, 2)

    async def act(screen: Screen) -> None:
        view.go_to_row(0)
        shown = await screen.rows()
        assert shown == ["", *(f"   line {number}" for number in range(8)), ""]

    on_screen(view, act)
