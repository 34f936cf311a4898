"""Conversations in the feed: their states, their asks, and what a killed host leaves."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agents.talking.scripted_claude import put_in
from sandbox import Sandbox, alive
from siding.faces.tui.acts import answers, tasks
from siding.faces.tui.acts.reading import peek_at
from siding.faces.tui.cards.act_card import ActCard
from siding.faces.tui.cards.card import CardAct, Wanted
from siding.faces.tui.cards.card_of import card_of
from siding.faces.tui.cards.codes import Codes
from siding.feed.client import Viewer
from siding.feed.fold import HomeFold, feed_of
from siding.feed.model import Ask, AskKind, Change, Row, RowKind, State
from siding.feed.model import Feed as Everything
from siding.record.place.wiring import open_app

PATIENCE_S = 30.0


class Feed:
    """A task with conversations, and a fold that looks at it."""

    def __init__(self, sandbox: Sandbox, tmp_path: Path) -> None:
        sandbox.env["PATH"] = put_in(tmp_path / "bin") + sandbox.env["PATH"]
        self.sandbox = sandbox
        sandbox.siding("task", "start", "talk")
        self.fold = HomeFold(open_app(env=sandbox.env, cwd=sandbox.repo))

    def say(self, *words: str) -> None:
        self.sandbox.siding("chat", *words)

    def rows(self) -> list[Row]:
        self.fold.touched(())
        return list(self.fold.look().rows)

    def asks(self) -> list[Ask]:
        return list(self.fold.look().asks)

    def chat(self, holds: Callable[[Row], object], at: int = 0) -> Row:
        """Look until the row of a conversation is as it is wanted."""
        end = time.monotonic() + PATIENCE_S
        while True:
            rows = self.rows()
            found = [row for row in rows if row.kind is RowKind.CHAT]
            if len(found) > at and holds(found[at]):
                return found[at]
            assert time.monotonic() < end, (rows, self.asks())
            time.sleep(0.05)

    def in_state(self, state: State) -> Row:
        return self.chat(lambda row: row.state is state)

    def taken(self, number: int) -> None:
        """Wait until the agent has taken so many prompts."""
        stories = self.fold.projects[0].project.layout.tasks_dir.glob("*/chats/c1/story.jsonl")
        (story,) = stories
        end = time.monotonic() + PATIENCE_S
        while story.read_text().count('"event":"prompt-taken"') < number:
            assert time.monotonic() < end, story.read_text()
            time.sleep(0.02)

    @property
    def task(self) -> Row:
        return next(row for row in self.rows() if row.kind is RowKind.TASK)


@pytest.fixture
def feed(sandbox: Sandbox, tmp_path: Path) -> Iterator[Feed]:
    made = Feed(sandbox, tmp_path)
    yield made
    for row in made.rows():
        if row.kind is RowKind.CHAT and row.run:
            made.say("stop", "-c", row.id)
            made.say("end", "-c", row.id)
    made.chat(lambda row: not row.run)


def test_a_conversation_is_a_row_of_its_task_in_the_state_that_it_is_in(feed: Feed) -> None:
    go = feed.sandbox.workspace() / "go"
    feed.say("claude", "wait go\nsay hello")
    feed.say("send", "and then this")
    runs = feed.chat(lambda row: row.state is State.RUNS and row.queued == 1)
    task = feed.task
    assert (task.state, task.what) == (State.RUNS, "wait go")
    assert (runs.id, runs.agent, runs.parent, runs.run) == ("c1", "claude", task.key, "r1")
    assert (runs.title, runs.what) == ("wait go", "wait go")
    assert runs.address == f"{task.address}/c1"
    told = feed.sandbox.siding("status").stdout.decode()
    assert "c1 with claude runs" in told
    assert "wait go, 1 prompt after it" in told
    (line,) = feed.sandbox.json("--format", "json")["runs"]
    assert (line["mark"], line["what"]) == ("c1", "claude · wait go, 1 prompt after it")
    (run,) = feed.sandbox.json("runs", "--json")
    assert (run["last_line"], run["waits"]) == ("c1 works: wait go", "")
    go.touch()
    ready = feed.in_state(State.READY)
    assert (ready.queued, ready.what, ready.asks) == (0, runs.title, ())
    assert feed.task.state is State.READY, "an agent that waits for a prompt is at no work"
    assert feed.asks() == []
    (said,) = feed.sandbox.json("status", "--json")["chats"]
    assert said == {name: ready.as_record()[name] for name in said}
    assert (said["state"], said["title"]) == ("ready", "wait go")
    assert feed.sandbox.json("--format", "json")["runs"] == []
    feed.say("send", "run echo 1 >one")
    waits = feed.in_state(State.WAITS)
    (ask,) = feed.asks()
    assert (ask.id,) == waits.asks == feed.task.asks
    feed.sandbox.siding("decide", "answer", ask.entry.session_id, "--choose", "1=run")
    feed.in_state(State.READY)
    assert len({runs.mark, ready.mark, waits.mark}) == 3
    feed.say("end")
    assert feed.in_state(State.DONE).run == ""
    assert feed.fold.look() == feed_of(open_app(env=feed.sandbox.env, cwd=feed.sandbox.repo))


def test_a_host_that_is_killed_breaks_its_conversation_only_in_a_turn(feed: Feed) -> None:
    feed.say("claude", "say hello")
    rests = feed.in_state(State.RESTS)
    host = _kill_host(feed)
    assert feed.chat(lambda row: not row.run).state is State.RESTS, "nothing of it was lost"
    assert host not in feed.fold.living()
    feed.say("send", "wait go")
    feed.taken(2)
    _kill_host(feed)
    broke = feed.in_state(State.BROKE)
    assert broke.what == "the host of c1 was killed"
    assert {ask.kind for ask in feed.asks()} == {AskKind.FAILURE}
    feed.say("send", "say again")
    again = feed.in_state(State.RESTS)
    assert rests.mark != broke.mark
    assert again.asks == ()


def test_what_waits_for_a_limit_goes_on_by_itself(feed: Feed) -> None:
    settings = Path(feed.sandbox.env["HOME"]) / ".claude.json"
    settings.write_text('{"hasCompletedOnboarding": true}')
    feed.say("claude")
    login = feed.in_state(State.WAITS)
    assert login.what == "claude: it is not logged in"
    (ask,) = feed.asks()
    assert (ask.kind, "log in" in ask.entry.detail) == (AskKind.CHAT, True)
    until = int(time.time()) + 3
    feed.say("send", f"limit {until}")
    feed.say("send", "say done")
    rests = feed.chat(lambda row: row.state is State.RESTS and row.queued == 1)
    assert rests.what.startswith("goes on at ")
    assert "a limit is reached" in rests.what
    assert (rests.asks, feed.asks()) == ((), [])
    done = feed.chat(lambda row: row.state is State.RESTS and not row.queued)
    assert time.time() >= until
    assert done.what == f"limit {until}"
    feed.say("send", "limit\nsay limited")
    feed.say("send", "say more")
    feed.chat(lambda row: row.state is State.RESTS and row.queued == 1)
    feed.say("go-on")
    assert feed.chat(lambda row: not row.queued).asks == ()


def test_a_card_does_what_lets_a_conversation_go_on(feed: Feed) -> None:
    app = open_app(env=feed.sandbox.env, cwd=feed.sandbox.repo)
    feed.say("claude", "fail it is out of order")
    feed.in_state(State.BROKE)
    (ask,) = feed.asks()
    card = card_of(app, ask, Codes(os.urandom, time.monotonic))
    assert isinstance(card, ActCard)
    assert [each.act for each in card.choices] == [CardAct.OPEN, CardAct.CHAT]
    wanted = Wanted(CardAct.CHAT, reason=card.choices[1].value)
    assert "c1" in answers.carry_out(app, ask, wanted)
    feed.in_state(State.DONE)
    assert feed.asks() == []


def test_a_person_is_told_once_of_what_a_conversation_needs(feed: Feed) -> None:
    sandbox = feed.sandbox
    shown = sandbox.directory / "shown"
    desktop = sandbox.directory / "tools" / "notify-send"
    desktop.parent.mkdir()
    desktop.write_text(f'#!/bin/sh\nshift $(($# - 2)); echo "$1: $2" >>{shown}\n')
    desktop.chmod(0o755)
    sandbox.env |= {"PATH": f"{desktop.parent}:{sandbox.env['PATH']}", "DISPLAY": ":99"}
    (sandbox.directory / "siding" / "config.yaml").write_text('{"call": {"after": "1s"}}')
    feed.say("claude", "fail it is out of order")
    broke = feed.in_state(State.BROKE)
    assert broke.what == "the turn failed: it is out of order"
    _until(shown.exists)
    feed.say("send", "run echo 1")
    feed.in_state(State.WAITS)
    _until(lambda: len(shown.read_text().splitlines()) == 2)
    feed.say("stop")
    feed.chat(lambda row: row.state is State.RESTS and not row.asks)
    first, second = shown.read_text().splitlines()
    assert first == "Siding: talk failed: the turn failed: it is out of order"
    assert second.startswith("Siding: repo asks you: May claude run this? echo 1")


def test_prompts_and_comments_of_the_terminal_go_into_its_queue(feed: Feed) -> None:
    sandbox = feed.sandbox
    app = open_app(env=sandbox.env, cwd=sandbox.repo)
    feed.say("claude", "wait go\nsay once")
    row = feed.in_state(State.RUNS)
    task = feed.task
    assert tasks.follow_up(app, task, "say -twice") == "c1 gets it as its next prompt"
    assert tasks.follow_up(app, row, "-") == "c1 gets it as its next prompt"
    sandbox.siding("comments", "add", "hello.txt:1", "Say it louder")
    sent = sandbox.json("comments", "send", "--json")
    assert (sent["run"], sent["way"]) == (row.run, "queued")
    assert [each["state"] for each in sent["comments"]] == ["sent"]
    (said,) = sandbox.json("chat", "list", "--json")
    texts = [each["text"] for each in said["queue"]]
    assert (texts[:2], "Say it louder" in texts[2]) == (["say -twice", "-"], True)
    assert tasks.stop(app, row) == "c1 is told to stop its turn"
    feed.chat(lambda row: row.state is State.RESTS and not row.queued)
    assert tasks.follow_up(app, row, "say one\nsay two") == "c1 gets it as its next prompt"
    feed.taken(2)
    rests = feed.in_state(State.RESTS)
    assert peek_at(app, rests).last_lines == ("one", "two")
    assert peek_at(app, feed.task).last_lines == ("one", "two")
    assert tasks.stop(app, rests) == "c1 ends; a prompt brings it back"
    feed.in_state(State.DONE)
    assert tasks.follow_up(app, rests, "say three") == "c1 gets it as its next prompt"
    assert feed.in_state(State.RESTS).run == "r2"


def test_what_its_turns_use_is_in_their_steps_and_summed_in_that_of_its_run(feed: Feed) -> None:
    feed.say("claude", "say one")
    feed.say("send", "say two")
    feed.chat(lambda row: row.state is State.RESTS and not row.queued)
    feed.say("end")
    feed.in_state(State.DONE)
    *turns, run = feed.sandbox.json("log", "--turns", "--json")
    one = {"input": 1200, "cache_read": 800, "output": 34}
    assert [step["usage"] for step in turns] == [{"small": one}] * 2
    assert run["usage"] == {"small": {name: 2 * count for name, count in one.items()}}
    shown = feed.sandbox.siding("show", "last").stdout.decode()
    assert "4,000 tokens in, 1,600 of them cached, 68 out (small)" in shown


def test_a_program_that_follows_the_feed_sees_each_state_and_no_word(
    feed: Feed, tmp_path: Path
) -> None:
    go = (
        tmp_path / "go"
    )  # not in the workspace: a change there makes the state READY after the turn
    words = "\n".join("say word" for _ in range(300))
    items = Viewer(open_app(env=feed.sandbox.env, cwd=feed.sandbox.repo)).items()
    try:
        assert isinstance(next(items), Everything)
        feed.say("claude", f"{words}\nwait {go}\nrun true")
        seen = _states(items, State.RUNS)
        go.touch()
        seen += _states(items, State.WAITS)
        feed.say("stop")
        seen += _states(items, State.RESTS)
        assert set(seen) == {State.RUNS, State.WAITS, State.RESTS}
        assert len(seen) < 30, "a row does not change with each word"
        feed.rows()
        _kill_host(feed)
        feed.say("send", "wait go2")
        _states(items, State.RUNS)
        feed.taken(2)
        _kill_host(feed)
        _states(items, State.BROKE)
    finally:
        items.close()
        hub = json.loads((feed.sandbox.directory / "siding/feed/hub.lock").read_text())
        os.kill(hub["pid"], signal.SIGKILL)


def _states(items: Iterator[Everything | Change], last: State) -> list[State]:
    """Return the states of the conversation in what comes, up to this one."""
    found: list[State] = []
    for item in items:
        found += [row.state for row in item.rows if row.kind is RowKind.CHAT]
        if found[-1:] == [last]:
            return found
    raise AssertionError("the feed has ended")


def _until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def _kill_host(feed: Feed) -> int:
    feed.rows()
    (facts,) = feed.fold.projects[0].tasks.values()
    (chat,) = facts.chats
    assert chat.host in feed.fold.living()
    os.kill(chat.host, signal.SIGKILL)
    while alive(chat.host):
        time.sleep(0.01)
    return chat.host
