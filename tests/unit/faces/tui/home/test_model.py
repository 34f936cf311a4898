"""What home shows, and that nothing moves under the cursor."""

import random

from siding.faces.tui.places.home.model import HELD_S, HomeList
from siding.faces.tui.places.home.sections import Heading, items
from siding.feed.addresses import parsed
from siding.feed.model import AskKind, Row, RowKind, State
from unit.faces.tui.cards.decisions import Clock
from unit.faces.tui.home.feeds import ask, feed, row


def home_of(*rows: Row) -> tuple[HomeList, Clock]:
    clock = Clock()
    home = HomeList(clock)
    home.take(feed(*rows))
    return home, clock


def keys(home: HomeList) -> list[str]:
    return [item.key for item in items(home.lines)]


def test_sections_stand_in_the_order_of_the_day_and_the_quiet_ones_are_closed() -> None:
    home, _ = home_of(
        row("d", State.DONE),
        row("s", State.RESTS),
        row("r", State.RUNS),
        row("w", State.WAITS),
        row("y", State.READY),
        row("b", State.BROKE),
    )
    assert keys(home) == ["w", "b", "y", "r"]
    headings = [line for line in home.lines if isinstance(line, Heading)]
    assert [each.section for each in headings] == list(State)
    assert [each.is_open for each in headings] == [True, True, True, True, False, False]
    home.fold()
    assert keys(home) == ["w", "b", "y", "r", "s", "d"]
    home.fold()
    assert keys(home) == ["w", "b", "y", "r"]


def test_parts_stand_below_what_they_are_of_whatever_their_state() -> None:
    home, _ = home_of(
        row("flow", State.RUNS, kind=RowKind.WORKFLOW),
        row("one", State.DONE, kind=RowKind.AGENT, parent="flow"),
        row("two", State.WAITS, kind=RowKind.AGENT, parent="flow"),
        row("lost", State.RUNS, kind=RowKind.AGENT, parent="gone"),
    )
    found = {item.key: item for item in items(home.lines)}
    assert keys(home)[:3] == ["flow", "one", "two"] or keys(home)[1:] == ["flow", "one", "two"]
    assert found["one"].depth == 1
    assert not found["one"].is_last
    assert found["two"].is_last
    assert found["lost"].depth == 0


def test_rows_keep_their_places_while_a_person_works_and_are_counted() -> None:
    home, clock = home_of(row("a"), row("b"), row("c", State.READY))
    home.keyed()
    before = keys(home)
    home.take(feed(row("a"), row("b", State.WAITS), row("c", State.READY)))
    assert keys(home) == before
    assert home.moved == 1
    assert home.counts()[State.WAITS] == 1
    home.sort()
    assert keys(home)[0] == "b"
    assert home.moved == 0
    clock.at += HELD_S + 1
    home.take(feed(row("a", State.WAITS), row("b"), row("c", State.READY)))
    assert keys(home)[0] == "a"


def test_rows_that_moved_are_put_in_order_when_nobody_works() -> None:
    home, clock = home_of(row("a"), row("b"))
    home.keyed()
    home.take(feed(row("a"), row("b", State.WAITS)))
    assert not home.idle()
    clock.at += HELD_S + 1
    assert home.idle()
    assert keys(home)[0] == "b"
    assert not home.idle()


def test_a_new_row_comes_after_those_of_its_section() -> None:
    home, _ = home_of(row("b", State.WAITS), row("r"))
    home.keyed()
    home.take(feed(row("b", State.WAITS), row("r"), row("a", State.WAITS)))
    assert keys(home) == ["b", "a", "r"]


def test_the_cursor_stays_on_its_row_whatever_comes() -> None:
    chance = random.Random(4)
    home, clock = home_of(*(row(str(n)) for n in range(8)))
    home.stand_on("4")
    for _ in range(300):
        if chance.random() < 0.3:
            home.keyed()
        clock.at += chance.choice((1, 5, 30))
        others = [row(str(n), chance.choice(list(State))) for n in range(12) if n != 4]
        chance.shuffle(others)
        home.take(feed(row("4", chance.choice(list(State)[:4])), *others[:6]))
        assert home.cursor == "4"
        assert home.row is not None


def test_a_cursor_whose_row_is_gone_goes_to_the_one_in_its_place() -> None:
    home, _ = home_of(*(row(each) for each in "abcde"))
    home.stand_on("c")
    home.keyed()
    home.take(feed(*(row(each) for each in "abde")))
    assert home.cursor == "d"
    home.take(feed())
    assert home.cursor == ""
    assert home.row is None


def test_next_goes_round_those_that_wait_and_back() -> None:
    home, _ = home_of(row("a", State.WAITS), row("b", State.WAITS), row("r"))
    seen = []
    for step in (1, 1, 1, -1, -1):
        home.stand_on(home.next_waiting(step))
        seen.append(home.cursor)
    assert seen == ["b", "a", "b", "a", "b"]
    assert home_of(row("r"))[0].next_waiting() == ""


def test_next_finds_one_that_the_filter_hides() -> None:
    home, _ = home_of(row("a", State.WAITS, name="alpha"), row("r", name="rho"))
    home.filter("rho")
    assert home.next_waiting() == "a"
    assert home.stand_on("a")
    assert home.words == ""
    assert home.row is not None


def test_the_filter_has_words_of_project_name_agent_and_state() -> None:
    home, _ = home_of(
        row("a", State.WAITS, name="Parser", agent="claude"),
        row("b", State.RUNS, name="lexer runs", agent="codex", project_name="shop"),
        row("c", State.DONE, name="parser docs"),
    )
    for words, found in (
        ("parser", ["a", "c"]),
        ("PARSER claude", ["a"]),
        ("shop", ["b"]),
        ("runs", ["b"]),
        ("done", ["c"]),
        ("nothing", []),
    ):
        home.filter(words)
        assert keys(home) == found, words
    home.filter("")
    assert keys(home) == ["a", "b"]


def test_a_part_that_is_found_brings_what_it_is_of_and_the_other_way_round() -> None:
    home, _ = home_of(
        row("flow", kind=RowKind.WORKFLOW, name="review"),
        row("one", kind=RowKind.AGENT, parent="flow", name="bugs"),
        row("two", kind=RowKind.AGENT, parent="flow", name="speed"),
    )
    home.filter("bugs")
    assert keys(home) == ["flow", "one"]
    home.filter("review")
    assert keys(home) == ["flow", "one", "two"]


def test_acts_are_about_those_selected_else_about_the_cursor() -> None:
    home, _ = home_of(row("a"), row("b"), row("c"))
    home.stand_on("a")
    assert [each.key for each in home.chosen()] == ["a"]
    home.select()
    home.select()
    assert [each.key for each in home.chosen()] == ["a", "b"]
    assert home.cursor == "c"
    home.take(feed(row("b"), row("c")))
    assert [each.key for each in home.chosen()] == ["b"]


def test_an_ask_of_no_task_has_a_row_to_which_nothing_else_is_done() -> None:
    home, _ = home_of(row("r"))
    asked = ask("q", "", AskKind.HOOKS, "hooks are not allowed yet")
    home.take(feed(row("r"), asks=(asked,)))
    assert home.counts()[State.WAITS] == 1
    assert home.stand_on(home.next_waiting())
    assert home.row is not None
    assert home.row.what == "hooks are not allowed yet"
    assert home.row.project == "flask-0000"
    assert home.chosen() == []
    home.take(feed(row("r")))
    assert keys(home) == ["r"]


def test_an_address_is_of_a_row_also_by_what_asks_and_by_what_is_below() -> None:
    rows = (
        row("a", State.RUNS)._replace(address="siding://p/a"),
        row("b", State.WAITS, asks=("q",))._replace(address="siding://p/b"),
        row("c", State.DONE)._replace(address="siding://q/c"),
    )
    asked = ask("q", "b")._replace(address="siding://p/~asks/q")
    home = HomeList(Clock())
    home.take(feed(*rows)._replace(asks=(asked,)))
    for text, key in {
        "siding://p/a": "a",
        "siding://p/b": "b",
        "siding://p/~asks/q": "b",
        "siding://p": "b",
        "siding://q": "c",
        "siding://q/": "c",
        "siding://p/~workflows": "",
        "siding://p/none": "",
        "siding://none": "",
    }.items():
        assert home.key_at(parsed(text)) == key, text


def test_a_word_goes_to_the_conversation_that_holds_the_run_or_to_the_newest() -> None:
    def chat(name: str, run: str = "") -> Row:
        return row(f"t/{name}", kind=RowKind.CHAT, parent="t", id=name, run=run)

    first, second = chat("c1", "r1"), chat("c2")
    screen, held, resting = row("t", run="r9"), row("t", run="r1"), row("t", run="")
    home, _ = home_of(held, first, second, row("other"))
    assert home.conversation_of(first) == first
    assert home.conversation_of(held) == first
    assert home.conversation_of(screen) is None, "its run is written to itself"
    assert home.conversation_of(resting) == second
    assert home.conversation_of(row("other")) is None
