"""Who is listed, in which order, how long, and what keys do: laws over any acts."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from siding.faces.tui.selector.model import (
    GRACE_S,
    MAIN,
    Act,
    End,
    Entry,
    Kind,
    Leave,
    Selector,
    Stop,
    View,
    expired,
    focused,
    press,
    stop_or_clear,
    taken,
    view,
)


def entry(key: str, started_s: float = 0.0, ended_s: float | None = None) -> Entry:
    end = End.NONE if ended_s is None else End.DONE
    return Entry(key, Kind.AGENT, f"name {key}", f"about {key}", started_s, ended_s, end)


A, B, C = entry("a", 1), entry("b", 2), entry("c", 3)
THREE = taken(Selector(), [C, A, B], 10.0)


def _keys(selector: Selector, *keys: str, now: float = 10.0) -> tuple[Selector, list[Act]]:
    acts: list[Act] = []
    for key in keys:
        selector, found = press(selector, key, now)
        acts += found
    return selector, acts


def test_they_are_in_the_order_in_which_they_began() -> None:
    assert THREE.keys == [MAIN, "a", "b", "c"]


def test_an_empty_one_takes_no_keys() -> None:
    assert not focused(Selector()).is_focused


def test_the_cursor_begins_on_main_and_stops_at_the_last() -> None:
    selector = focused(THREE)
    assert selector.highlighted == MAIN
    assert _keys(selector, "down")[0].highlighted == "a"
    assert _keys(selector, *["down"] * 9)[0].highlighted == "c"
    assert _keys(selector, "down", "down", "up")[0].highlighted == "a"


def test_above_main_and_by_escape_the_keys_go_back() -> None:
    for keys in (("up",), ("down", "up", "up"), ("down", "escape")):
        selector, acts = _keys(focused(THREE), *keys)
        assert acts == [Leave()]
        assert not selector.is_focused


def test_enter_shows_one_and_keeps_the_keys() -> None:
    selector, acts = _keys(focused(THREE), "down", "down", "enter", "down", "enter")
    assert acts == [View("b"), View("c")]
    assert selector.is_focused
    back, acts = _keys(selector, "up", "up", "up", "enter")
    assert acts == [View(MAIN)]
    assert back.viewed == MAIN


def test_without_the_keys_what_is_shown_stands_out() -> None:
    selector, _acts = _keys(focused(THREE), "down", "enter", "escape")
    assert selector.highlighted == "a"


def test_one_that_has_ended_stays_for_its_grace() -> None:
    ended = taken(THREE, [A._replace(end=End.DONE, ended_s=20.0), B, C], 20.0)
    assert ended.wake_at == 20.0 + GRACE_S
    assert expired(ended, 49.9).keys == [MAIN, "a", "b", "c"]
    assert expired(ended, 50.0).keys == [MAIN, "b", "c"]
    again = taken(ended, [A._replace(end=End.DONE, ended_s=20.0), B, C], 45.0)
    assert again.wake_at == 20.0 + GRACE_S, "its time does not begin anew"


def test_what_ended_long_ago_is_not_listed() -> None:
    assert taken(Selector(), [entry("old", 1, 2)], 100.0).rows == ()
    assert taken(Selector(), [entry("new", 1, 90)], 100.0).wake_at == 120.0


def test_one_that_is_not_there_any_more_has_ended() -> None:
    gone = taken(THREE, [B, C], 20.0)
    found = gone.entry("a")
    assert found is not None
    assert (found.end, found.ended_s) == (End.DONE, 20.0)
    assert found.lasted_s(1000.0) == 19.0, "its time stands still"


def test_what_is_shown_stays_until_it_is_left() -> None:
    shown, _acts = view(THREE, "a", 10.0)
    ended = taken(shown, [A._replace(end=End.FAILED, ended_s=20.0), B, C], 20.0)
    assert expired(ended, 1000.0).keys == [MAIN, "a", "b", "c"]
    left, acts = view(ended, MAIN, 1000.0)
    assert list(acts) == [View(MAIN)]
    assert left.wake_at == 1000.0 + GRACE_S


def test_x_ends_what_works_and_clears_what_has_ended() -> None:
    selector, acts = _keys(focused(THREE), "down", "x")
    assert acts == [Stop(A)]
    assert selector.keys == THREE.keys
    ended = taken(selector, [A._replace(end=End.DONE, ended_s=20.0), B, C], 20.0)
    cleared, acts = _keys(ended, "x", now=21.0)
    assert acts == []
    assert cleared.keys == [MAIN, "b", "c"]
    assert cleared.cursor == "b", "the next one takes its place"
    assert taken(cleared, [A._replace(end=End.DONE, ended_s=20.0), B, C], 22.0) == cleared
    assert _keys(focused(THREE), "x") == (focused(THREE), [])


def test_what_is_shown_and_cleared_gives_way_to_main() -> None:
    shown, _acts = view(taken(Selector(), [A], 10.0), "a", 10.0)
    ended = taken(shown, [A._replace(end=End.DONE, ended_s=20.0)], 20.0)
    cleared, acts = stop_or_clear(ended, "a", 21.0)
    assert list(acts) == [View(MAIN)]
    assert (cleared.keys, cleared.viewed) == ([MAIN], MAIN)


def test_when_rows_go_the_cursor_is_on_one_that_is_there() -> None:
    selector, _acts = _keys(focused(THREE), "down", "down", "down")
    ended = taken(selector, [A, B], 20.0)
    assert expired(ended, 60.0).cursor == "b"
    none = expired(taken(ended, [], 60.0), 1000.0)
    assert (none.rows, none.is_focused, none.cursor) == ((), False, MAIN)


_IDS = "abcdef"
_ACTS = st.one_of(
    st.tuples(st.just("begin"), st.sampled_from(_IDS)),
    st.tuples(st.just("end"), st.sampled_from(_IDS)),
    st.tuples(st.just("lose"), st.sampled_from(_IDS)),
    st.tuples(st.just("key"), st.sampled_from(["up", "down", "enter", "x", "escape", "q"])),
    st.tuples(st.just("focus"), st.just("")),
    st.tuples(st.just("wait"), st.sampled_from(["1", "29", "31"])),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_ACTS, max_size=60))
def test_laws(script: Sequence[tuple[str, str]]) -> None:
    """The cursor and what is shown are rows; what is shown stays; what has ended goes in time."""
    selector, now = Selector(), 1000.0
    world: dict[str, Entry] = {}
    for what, word in script:
        before = selector
        acts: Sequence[Act] = ()
        match what:
            case "begin":
                world.setdefault(word, entry(word, now))
            case "end" if word in world and world[word].is_running:
                world[word] = world[word]._replace(end=End.DONE, ended_s=now)
            case "lose":
                world.pop(word, None)
            case "focus":
                selector = focused(selector)
            case "key" if selector.is_focused:
                selector, acts = press(selector, word, now)
            case "wait":
                now += float(word)
        for act in acts:
            if isinstance(act, Stop):
                assert act.entry.is_running
            if isinstance(act, View):
                assert selector.viewed == act.key != before.viewed
        selector = expired(taken(selector, world.values(), now), now)
        assert selector.cursor in selector.keys
        assert selector.viewed in selector.keys
        assert selector.is_focused <= bool(selector.rows)
        starts = [row.entry.started_s for row in selector.rows]
        assert starts == sorted(starts)
        assert not selector.dismissed & set(selector.keys)
        for row in selector.rows:
            stays = row.entry.is_running or row.entry.key == selector.viewed
            assert (row.leaves_at is None) == stays
            assert row.leaves_at is None or now < row.leaves_at <= now + GRACE_S
        running = {key for key, each in world.items() if each.is_running}
        assert running - selector.dismissed <= set(selector.keys)
    assert expired(taken(selector, [], now), now + GRACE_S).keys in (
        [MAIN],
        [MAIN, selector.viewed],
    )
