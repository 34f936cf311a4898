"""Laws of the values of the feed: states, the order of rows, and changes."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from siding.asking.views import InboxEntry
from siding.feed.model import (
    Ask,
    AskKind,
    Change,
    Feed,
    Row,
    RowKind,
    State,
    changed,
    difference,
)
from siding.feed.state import Facts, longest_waiting, ordered, state_of

BROKEN = (AskKind.FAILURE, AskKind.WORKFLOW)
ALL_FACTS = [
    Facts(asks, *flags)
    for asks in [(), *((kind,) for kind in AskKind), (AskKind.FAILURE, AskKind.QUESTION)]
    for flags in product((False, True), repeat=4)
]
TIMES = st.sampled_from(
    ["", "2026-01-01T10:00:00Z", "2026-01-01T10:30:00+01:00", "2026-01-02T00:00:00.500Z", "x"]
)
NAMES = st.sampled_from("abcdef")


def test_what_a_person_is_asked_comes_before_all_else() -> None:
    for facts in ALL_FACTS:
        is_asked = any(kind not in BROKEN for kind in facts.asks)
        assert (state_of(facts) is State.WAITS) == is_asked, facts


def test_a_failure_counts_until_something_runs_and_a_cut_does_always() -> None:
    for facts in (each for each in ALL_FACTS if state_of(each) is not State.WAITS):
        broke = state_of(facts) is State.BROKE
        done = facts.is_closed and not facts.runs
        failed = bool(facts.asks) and not facts.runs
        assert broke == (not done and (facts.is_cut_off or failed)), facts


def test_each_state_is_what_its_word_says() -> None:
    for facts in ALL_FACTS:
        match state_of(facts):
            case State.RUNS:
                assert facts.runs
            case State.READY:
                assert facts.unapplied
                assert facts == Facts(unapplied=True)
            case State.RESTS:
                assert facts == Facts()
            case State.DONE:
                assert facts.is_closed
                assert not facts.runs
            case State.WAITS | State.BROKE:
                assert facts.asks or facts.is_cut_off
    assert {state_of(facts) for facts in ALL_FACTS} == set(State)


@st.composite
def a_row(draw: st.DrawFn) -> Row:
    key = draw(NAMES)
    return Row(
        key=key,
        kind=draw(st.sampled_from(RowKind)),
        state=draw(st.sampled_from(State)),
        project="p",
        project_name="p",
        id=key,
        name=key,
        what=draw(st.text(max_size=3)),
        since=draw(TIMES),
        address=f"siding://p/{key}",
        parent=draw(st.sampled_from(["", *"abc"])),
        steps=draw(st.integers(0, 3)),
        asks=tuple(draw(st.lists(NAMES, max_size=2))),
        unapplied=draw(st.integers(0, 2)),
    )


@st.composite
def an_ask(draw: st.DrawFn) -> Ask:
    entry = dict.fromkeys(InboxEntry._fields, "")
    entry |= {"since": draw(TIMES), "title": draw(st.text(max_size=3))}
    return Ask(
        id=draw(NAMES),
        kind=draw(st.sampled_from(AskKind)),
        entry=InboxEntry(**entry),
        row=draw(NAMES),
        address="siding://p",
    )


def feeds() -> st.SearchStrategy[Feed]:
    return st.builds(
        Feed,
        epoch=st.just(7),
        seq=st.integers(0, 5),
        rows=st.lists(a_row(), unique_by=lambda row: row.key).map(tuple),
        asks=st.lists(an_ask(), unique_by=lambda ask: ask.id).map(tuple),
        problems=st.lists(st.text(max_size=3), max_size=2).map(tuple),
        projects=st.integers(0, 3),
        done_before=st.integers(0, 3),
    )


def sets(feed: Feed) -> object:
    """Return a feed without the order of rows and asks, which is for the screen to say."""
    return {**feed._asdict(), "rows": set(feed.rows), "asks": set(feed.asks)}


@given(feeds(), feeds())
def test_the_difference_of_two_feeds_makes_one_of_the_other(before: Feed, after: Feed) -> None:
    after = after._replace(seq=before.seq + 1)
    change = difference(before, after, epoch=after.epoch, seq=after.seq)
    if change is None:
        assert sets(before._replace(seq=after.seq)) == sets(after)
        return
    assert sets(changed(before, change)) == sets(after)
    again = Change.from_record(change.as_record())
    assert again == change
    assert difference(after, after, epoch=7, seq=9) is None


@given(feeds())
def test_a_feed_goes_through_json_unchanged(feed: Feed) -> None:
    assert Feed.from_record(feed.as_record()) == feed


@given(feeds())
def test_the_order_has_each_row_once_and_states_in_theirs(feed: Feed) -> None:
    states = list(State)
    acyclic = [row._replace(parent=row.parent if row.parent < row.key else "") for row in feed.rows]
    found = ordered(acyclic)
    assert sorted(row.key for row in found) == sorted(row.key for row in acyclic)
    keys = {row.key for row in acyclic}
    top = [states.index(row.state) for row in found if row.parent not in keys]
    assert top == sorted(top)
    seen: set[str] = set()
    for row in found:
        assert row.parent not in keys or row.parent in seen, "below what it belongs to"
        seen.add(row.key)


@given(feeds())
def test_what_waits_longest_comes_first_and_what_has_no_time_last(feed: Feed) -> None:
    found = longest_waiting(feed.asks)
    assert set(found) == set(feed.asks)
    timeless = [not ask.entry.since for ask in found]
    assert timeless == sorted(timeless)
