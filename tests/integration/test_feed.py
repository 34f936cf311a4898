"""The feed of all screens: its hub, viewers that come and go, and what programs read of it."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from benchmarks.feed_world import World

from forked import siding_in_fork
from sandbox import SIDING, Sandbox
from siding.feed import client
from siding.feed.client import Viewer
from siding.feed.model import Change, Feed, State, changed
from siding.ground.process.command import TOKEN_VARIABLE
from siding.record.place.wiring import App, open_app

EVENTS = 40


@pytest.fixture
def home(sandbox: Sandbox) -> Iterator[Path]:
    """The home of a sandbox with one task, whose hub is killed at the end."""
    sandbox.siding("task", "start", "first")
    path = Path(sandbox.env["SIDING_HOME"])
    yield path
    with suppress(OSError, ValueError):
        os.kill(hub_of(path), signal.SIGKILL)


def app_of(sandbox: Sandbox, **more: str) -> App:
    return open_app(env={**sandbox.env, **more}, cwd=Path("/"))


def hub_of(home: Path) -> int:
    return int(json.loads((home / "feed" / "hub.lock").read_text())["pid"])


def until(items: Iterator[Feed | Change], names: set[str], *, feed: Feed | None = None) -> Feed:
    """Take items until the rows have these names; `feed` is what is known already."""
    for item in items:
        if isinstance(item, Feed):
            feed = item
        else:
            assert feed is not None
            assert (item.epoch, item.seq) == (feed.epoch, feed.seq + 1)
            feed = changed(feed, item)
        if {row.name for row in feed.rows} == names:
            return feed
    raise AssertionError("the feed has ended")


def test_each_viewer_is_right_after_everything_that_happens(tmp_path: Path) -> None:
    """The same with 1,000 events is `benchmarks/feed.py`."""
    env = Sandbox(tmp_path).env

    def call(words: Sequence[str], cwd: Path) -> int:
        return siding_in_fork(words, env=env, cwd=cwd).status

    world = World(tmp_path, SIDING, env, seed=1, viewers=2, call=call)
    try:
        world.play(EVENTS)
        assert world.wrong == []
        kills = {each for each in world.counts if each.startswith("kill")}
        assert kills == {"kill host", "kill agent", "kill hub", "kill viewer"}
        assert len(world.counts) > 12
        assert world.refused.total() < EVENTS // 2
    finally:
        world.close()


def test_where_no_hub_can_be_a_viewer_folds_by_itself(sandbox: Sandbox, home: Path) -> None:
    (home / "feed").write_text("no directory")
    items = Viewer(app_of(sandbox)).items()
    feed = until(items, {"first"})
    sandbox.siding("task", "start", "second")
    feed = until(items, {"first", "second"}, feed=feed)
    assert feed.epoch > 0
    items.close()


def test_in_a_step_no_hub_is_begun(sandbox: Sandbox, home: Path) -> None:
    items = Viewer(app_of(sandbox, **{TOKEN_VARIABLE: "t"})).items()
    until(items, {"first"})
    items.close()
    assert not (home / "feed").exists()


def test_a_hub_that_hangs_keeps_nobody_waiting(
    sandbox: Sandbox, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = Viewer(app_of(sandbox)).items()
    until(items, {"first"})
    os.kill(hub_of(home), signal.SIGSTOP)
    monkeypatch.setattr(client, "PATIENCE_S", 0.2)
    monkeypatch.setattr(client, "SILENT_S", 0.2)
    others = Viewer(app_of(sandbox)).items()
    assert until(others, {"first"}).epoch == 0
    sandbox.siding("task", "start", "second")
    for each in (items, others):
        until(each, {"first", "second"})
        each.close()
    os.kill(hub_of(home), signal.SIGCONT)


def test_a_viewer_is_closed_from_another_thread(sandbox: Sandbox, home: Path) -> None:
    viewer, has_begun = Viewer(app_of(sandbox)), threading.Event()
    viewer.show(["siding://repo"], focused=True)
    (screen,) = (home / "screens").iterdir()
    found = []

    def read() -> None:
        for item in viewer.items():
            found.append(item)
            has_begun.set()

    thread = threading.Thread(target=read)
    thread.start()
    assert has_begun.wait(60)
    assert screen.read_bytes().startswith(b"here")
    viewer.show([], focused=None)
    assert screen.read_bytes().startswith(b"unknown")
    viewer.close()
    viewer.close()
    thread.join(60)
    assert not thread.is_alive()
    assert not screen.exists()
    viewer.show([], focused=True)
    never_read = Viewer(app_of(sandbox))
    never_read.close()
    assert list(never_read.items()) == []


def test_programs_read_everything_and_then_what_changed(sandbox: Sandbox, home: Path) -> None:
    once = sandbox.json("status", "--all", "--json")["feed"]
    assert [(row["name"], row["state"]) for row in once["rows"]] == [("first", "rests")]
    assert once["epoch"] == 0, "nobody counts yet, and nobody was begun"
    assert not (home / "feed").exists()
    follows = subprocess.Popen(
        [*SIDING, "status", "--all", "--json", "--follow"],
        cwd="/",
        env=sandbox.env,
        stdout=subprocess.PIPE,
    )
    assert follows.stdout is not None
    first = json.loads(follows.stdout.readline())["feed"]
    cursor = f"{first['epoch']}:{first['seq']}"
    sandbox.siding("run", "-q", "--", "sh", "-c", "echo 1 >a; exit 3", status=3)
    seen = Feed.from_record(first)
    while [row.state for row in seen.rows] != [State.BROKE]:
        seen = changed(seen, Change.from_record(json.loads(follows.stdout.readline())["change"]))
    assert sandbox.json("status", "--all", "--json")["feed"]["epoch"] == seen.epoch
    missed = sandbox.siding("status", "--all", "--json", "--after", cursor).stdout.splitlines()
    again = Feed.from_record(first)
    for line in missed:
        again = changed(again, Change.from_record(json.loads(line)["change"]))
    assert again.rows == seen.rows
    assert json.loads(missed[-1])["change"] == {"epoch": again.epoch, "seq": again.seq}
    (line,) = sandbox.siding("status", "--all", "--json", "--after", "7:7").stdout.splitlines()
    assert json.loads(line)["feed"]["epoch"] == seen.epoch
    follows.send_signal(signal.SIGINT)
    assert follows.wait(60) in (130, -signal.SIGINT)
    follows.stdout.close()
    assert b"broke" in sandbox.siding("status", "--all").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--all", "--follow"), b"add --json"),
        (("--follow", "--json"), b"--all --json"),
        (("--after", "1:2"), b"--all --json"),
        (("--all", "--json", "--after", "1"), b"no cursor"),
        (("--all", "--json", "--after", "1:-2"), b"no cursor"),
        (("--all", "--short"), b"leave out"),
        (("--all", "-t", "x"), b"leave out"),
    ],
)
def test_other_words_are_refused(sandbox: Sandbox, words: tuple[str, ...], says: bytes) -> None:
    assert says in sandbox.siding("status", *words, status=2).stderr


def test_an_address_is_opened(sandbox: Sandbox, home: Path, tmp_path: Path) -> None:
    sandbox.siding("run", "-q", "--", "sh", "-c", "echo 1 >a")
    (row,) = sandbox.json("status", "--all", "--json")["feed"]["rows"]
    for address in (row["address"], f"{row['address']}/1", "siding://repo/first/1#a:1"):
        done = sandbox.siding("open", address, cwd=tmp_path)
        assert row["address"].encode() in done.stderr
        program, *command = done.stdout.decode().split()
        assert program == "siding"
        assert b"echo 1" in sandbox.siding(*command, cwd=tmp_path).stdout
    for address, status in {
        "siding://repo/none": 1,
        "siding://none": 1,
        "siding://repo/first/9": 1,
        "siding://repo/~asks/none": 1,
        "siding://repo/~workflows/none": 1,
        "siding://": 2,
        "siding://a/b/c/d": 2,
    }.items():
        assert sandbox.siding("open", address, status=None).returncode == status, address
    words = ("open", row["address"], "--with", "true")
    assert b"no directory" in sandbox.siding(*words, status=2).stderr
