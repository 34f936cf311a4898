"""The rows of conversations, made of stories: the six states, and what is read for them."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from integration.undo.desk import Desk
from siding.chat.kept import Keeper, talk_in
from siding.chat.state import folded
from siding.chat.store import Chat, Chats
from siding.chat.story import Story, StoryReader
from siding.chat.talk import Talk
from siding.faces.tui.cards.act_card import ActCard
from siding.faces.tui.cards.card import CardAct
from siding.faces.tui.cards.card_of import card_of
from siding.faces.tui.cards.codes import Codes
from siding.faces.tui.foot import status_of
from siding.faces.tui.places.task.going_on import waiting_from
from siding.feed.addresses import parsed
from siding.feed.destination import destination
from siding.feed.fold import HomeFold, feed_of
from siding.feed.model import AskKind, Feed, Row, RowKind, State
from siding.ground.storage.locks import FileLock, Holder
from unit.feed.test_cost import Looks, looks

__all__ = ["looks"]

Line = dict[str, Any]
AT = "2026-11-28T10:00:00.000Z"
LATER = "2099-01-01T00:00:00+00:00"


def said(event: str, **fields: Any) -> Line:
    return {"event": event, **fields}


BEGAN = [said("began", agent="claude", program=["claude"])]
HELD = [*BEGAN, said("hosted", run="r9"), said("opened", session="s")]
SENT = [
    *HELD,
    said("queued", prompt="p1", text="fix it\nall of it"),
    said("sending", prompt="p1"),
    said("prompt-taken", prompt="p1"),
    said("turn-started", prompt="p1"),
]
DONE = [*SENT, said("turn-ended", how="done")]
FAILED = [*SENT, said("turn-ended", how="failed", reason="no model")]
LIMIT = said("troubled", trouble="limit", message="5 hours")
LOGIN = said("troubled", trouble="login", message="run claude login")
UNSURE = [*HELD, said("queued", prompt="p1", text="fix it"), said("sending", prompt="p1")]
UNSURE += [said("unsure", prompt="p1"), said("turn-ended", how="failed", reason="killed")]
MORE = said("queued", prompt="p2", text="more")
ENDED = said("ended", exit_code=0)
# A story, whether a host lives, the state, what it says, and of which kind its ask is.
ROWS: dict[str, tuple[list[Line], bool, State, str, AskKind | None]] = {
    "starts": ([*BEGAN, MORE], True, State.RUNS, "more", None),
    "a turn runs": (SENT, True, State.RUNS, "fix it", None),
    "it stops": ([*SENT, said("stop-asked")], True, State.RUNS, "fix it", None),
    "the turn has ended": (DONE, True, State.RESTS, "fix it", None),
    "the next one is to go": ([*DONE, MORE], True, State.RUNS, "more", None),
    "a turn was stopped": (
        [*SENT, said("turn-ended", how="stopped")],
        True,
        State.RESTS,
        "fix it",
        None,
    ),
    "a turn failed": (FAILED, True, State.BROKE, "the turn failed: no model", AskKind.FAILURE),
    "it goes on after that": ([*FAILED, MORE], True, State.RUNS, "more", None),
    "unsure": (UNSURE, True, State.WAITS, "was this prompt taken? fix it", AskKind.CHAT),
    "unsure, alone": (
        [*UNSURE, ENDED],
        False,
        State.WAITS,
        "was this prompt taken? fix it",
        AskKind.CHAT,
    ),
    "a limit in a turn": ([*SENT, LIMIT], True, State.RUNS, "fix it", None),
    "a limit": (
        [*SENT, LIMIT, said("turn-ended", how="failed")],
        True,
        State.WAITS,
        "claude: a limit is reached",
        AskKind.CHAT,
    ),
    "a limit that was got over": (
        [*SENT, LIMIT, said("turn-ended", how="done")],
        True,
        State.RESTS,
        "fix it",
        None,
    ),
    "a limit until": (
        [*SENT, LIMIT, said("held", until=LATER), said("turn-ended", how="failed"), MORE],
        True,
        State.RESTS,
        f"goes on at {LATER}: 5 hours",
        None,
    ),
    "the limit is over": (
        [
            *[*SENT, LIMIT, said("held", until=LATER), said("turn-ended", how="failed")],
            *[MORE, said("went-on")],
        ],
        True,
        State.RUNS,
        "more",
        None,
    ),
    "no login": (
        [*HELD, LOGIN, MORE, said("held", reason="run claude login")],
        True,
        State.WAITS,
        "claude: it is not logged in",
        AskKind.CHAT,
    ),
    "prompts are held": (
        [*DONE, MORE, said("held")],
        True,
        State.WAITS,
        "1 prompt held: until you go on",
        AskKind.CHAT,
    ),
    "it was ended": ([*DONE, {**ENDED, "wanted": True}], False, State.DONE, "fix it", None),
    "it has ended by itself": ([*DONE, ENDED], False, State.RESTS, "fix it", None),
    "it has ended badly": (
        [*DONE, {**ENDED, "exit_code": 3}],
        False,
        State.BROKE,
        "claude has ended: exit 3",
        AskKind.FAILURE,
    ),
    "it is handed over": (
        [*DONE, MORE, {**ENDED, "wanted": True}, said("handed-over")],
        True,
        State.RESTS,
        "it is open on its agent's own screen",
        None,
    ),
    "its host was killed at rest": (DONE, False, State.RESTS, "fix it", None),
    "its host was killed in a turn": (
        SENT,
        False,
        State.BROKE,
        "the host of c1 was killed",
        AskKind.FAILURE,
    ),
}


SAID = {State.WAITS: "1 wait", State.BROKE: "1 broke", State.RUNS: "1 run"}  # one, not two


def made(desk: Desk, lines: list[Line]) -> Chat:
    """Make a conversation of these lines."""
    chat = Chats(desk.project.task_layout(desk.task.id)).begin()
    add(chat, lines)
    return chat


def add(chat: Chat, lines: list[Line]) -> int:
    story = Story(chat.story)
    for number, line in enumerate(lines, start=1):
        story.add({"seq": number, "at": AT, **line}, now=False)
    story.close()
    return story.size


@contextmanager
def hosted(chat: Chat, desk: Desk) -> Iterator[None]:
    holder = Holder(pid=desk.project.app.pid, since=AT, what="a conversation")
    with FileLock(chat.lock).acquire(holder=holder):
        yield


def row_in(feed: Feed) -> Row:
    (found,) = [row for row in feed.rows if row.kind is RowKind.CHAT]
    return found


def test_a_conversation_is_in_the_state_that_its_story_says(desk: Desk) -> None:
    for name, (lines, is_live, state, what, kind) in ROWS.items():
        chat = made(desk, lines)
        with hosted(chat, desk) if is_live else nullcontext():
            feed = feed_of(desk.project.app)
        row = row_in(feed)
        assert (row.state, row.what) == (state, what), name
        assert [ask.kind for ask in feed.asks] == ([] if kind is None else [kind]), name
        assert row.asks == tuple(ask.id for ask in feed.asks), name
        assert (row.agent, row.since) == ("claude", AT), name
        (task,) = [each for each in feed.rows if each.kind is RowKind.TASK]
        assert task.state is (State.RESTS if state is State.DONE else state), name
        assert row.parent == task.key
        assert status_of(feed, True) == ([SAID[state]] if state in SAID else ["all quiet"]), name
        assert waiting_from(feed, "", 1) == (task.address if state is State.WAITS else "")
        assert Row.from_record(json.loads(json.dumps(row.as_record()))) == row
        shutil.rmtree(chat.directory)


def test_an_address_leads_to_a_conversation(desk: Desk) -> None:
    made(desk, DONE)
    row = row_in(feed_of(desk.project.app))
    found = destination(desk.project.app, row.address)
    assert found.command.endswith(f"chat show -c c1 -t {desk.task.id}")
    assert parsed(row.address).page == f"/tasks/{desk.task.id}"


def test_what_is_kept_reads_back_and_what_follows_it_is_folded(desk: Desk) -> None:
    lines = [*UNSURE, MORE, said("asked", ask="a1", title="May it?", choices=[{"question": "q"}])]
    chat = made(desk, lines[:-1])
    reader = StoryReader(chat.story)
    talk = folded(reader.records())
    reader.close()
    Keeper(chat.kept).keep(talk, reader.offset)
    assert talk_in(chat.kept, chat.story) == talk
    add(chat, lines[-1:])
    (ask,) = talk_in(chat.kept, chat.story).asks
    assert ask.title == "May it?"
    assert talk_in(chat.kept, chat.story, is_live=True) == talk, "its host keeps it"
    whole = chat.story.read_bytes()
    chat.story.write_bytes(whole[:-9] + b"\n")  # as after a power cut
    assert talk_in(chat.kept, chat.story) == talk
    chat.story.write_bytes(whole.splitlines(keepends=True)[0])
    assert talk_in(chat.kept, chat.story) == folded([{"seq": 1, "at": AT, **lines[0]}])
    chat.kept.write_bytes(b'{"version": 1, "fields": ["seq"], "talk": {"seq": 9}}\n')
    assert talk_in(chat.kept, chat.story).agent == "claude", "another version's is not believed"
    assert Talk() == Chat(chat.directory.with_name("c9")).talk()


def test_words_of_an_agent_cost_nothing(desk: Desk, looks: Looks) -> None:
    chat = made(desk, SENT)
    keeper = Keeper(chat.kept)
    talk = chat.talk()
    keeper.keep(talk, chat.story.stat().st_size)
    before = chat.kept.stat()
    keeper.keep(talk._replace(seq=99, output_tokens=7), chat.story.stat().st_size + 1000)
    assert chat.kept.stat() == before
    fold = HomeFold(desk.project.app)
    with hosted(chat, desk):
        fold.look()
        assert chat.directory not in fold.directories(), "each word would wake the hub"
        assert chat.directory.parent in fold.directories()
        add(chat, [said("text", text="word")] * 10)
        fold.touched([chat.kept])
        with looks.counted() as paths:
            row = row_in(fold.look())
        assert row.state is State.RUNS
        assert paths.count(str(chat.story)) == 1, "is it there? nobody reads it for a row"
        size = chat.story.stat().st_size
        keeper.keep(talk._replace(is_running=False, sent=None, how="done"), size)
        fold.touched([chat.kept])
        assert row_in(fold.look()).state is State.RESTS


def test_an_agent_that_ended_badly_is_broken_until_somebody_goes_on(desk: Desk) -> None:
    made(desk, [*DONE, {**ENDED, "exit_code": 3}])
    assert row_in(feed_of(desk.project.app)).state is State.BROKE
    desk.shell("echo 1 >a")
    feed = feed_of(desk.project.app)
    assert (row_in(feed).state, feed.asks) == (State.READY, ())


def test_a_card_offers_what_a_conversation_waits_for(desk: Desk) -> None:
    chat = made(desk, UNSURE)
    which = f"-c c1 -t {desk.task.id}"
    with hosted(chat, desk):
        assert _offers(desk) == [f"siding chat again {which} p1", f"siding chat drop {which} p1"]
        add(chat, [said("dropped", prompt="p1"), MORE, said("held")])
        assert _offers(desk) == [f"siding chat go-on {which}"]


def _offers(desk: Desk) -> list[str]:
    (ask,) = feed_of(desk.project.app).asks
    card = card_of(desk.project.app, ask, Codes(os.urandom, lambda: 0.0))
    assert isinstance(card, ActCard)
    return [each.value for each in card.choices if each.act is CardAct.CHAT]


def test_a_damaged_conversation_is_said_and_hides_no_other(desk: Desk) -> None:
    made(desk, DONE)
    damaged = Chats(desk.project.task_layout(desk.task.id)).begin()
    damaged.story.mkdir()
    feed = feed_of(desk.project.app)
    assert row_in(feed).id == "c1"
    (problem,) = feed.problems
    assert "conversation c2 cannot be read" in problem
