"""Viewers that are slow, late, stopped or killed: each has the same story, to the byte, and the
host neither waits for one nor grows by one."""

import json
import signal
import threading
from pathlib import Path

from integration.chat.talks import Conversation
from integration.chat.viewing import KilledAgain, Slowly, Viewer, peak_of

_POUR = "pour 1000 2000"  # 2 MB a turn: much more than pipes hold
_KILLS = 2
_LEAST = 3  # turns
# Bytes, after the first turn: what was said is more, and for each viewer that does not read
# it as much again.
_GROWS = 4 << 20


def test_slow_late_stopped_and_killed_viewers_have_one_story(talk: Conversation) -> None:
    talk.begin("say first")
    hurries = threading.Event()
    slow, stopped = Viewer(talk), Viewer(talk, is_face=True)
    stopped.read(1)
    stopped.signal(signal.SIGSTOP)
    slowly = Slowly(slow, hurries)
    killed = KilledAgain(talk, _KILLS)
    _pour(talk, 1)
    host = _host_of(talk)
    host_before, viewer_before = peak_of(host), peak_of(slow.process.pid)
    turns = _pour_until(talk, killed.was_killed)  # though some viewers read nothing
    late = Viewer(talk)
    stopped.signal(signal.SIGCONT)
    hurries.set()
    talk.says("send", "say last")
    _await_turns(talk, turns + 2)
    assert peak_of(host) - host_before < _GROWS
    talk.end()

    found = {"late": late.rest(), "stopped": stopped.rest()}
    found |= {"slow": slowly.result(), "killed": killed.result()}
    assert slowly.peak - viewer_before < _GROWS
    whole = _story_of(talk).read_bytes()
    assert len(whole) > 2_000_000 * _LEAST
    assert {name: each == whole for name, each in found.items()} == dict.fromkeys(found, True)


def _pour_until(talk: Conversation, is_done: threading.Event) -> int:
    """Have the agent say much, turn after turn, until it is done; return how many turns."""
    turns = 1
    while turns < _LEAST or not is_done.is_set():
        turns += 1
        _pour(talk, turns)
    return turns


def _pour(talk: Conversation, turn: int) -> None:
    talk.says("send", _POUR)
    _await_turns(talk, turn + 1)


def _await_turns(talk: Conversation, number: int) -> None:
    """Wait until so many have ended. The story is long: each line is not read for it."""
    story = _story_of(talk)
    talk.until(lambda: story.read_bytes().count(b'"event":"turn-ended"') >= number)


def _host_of(talk: Conversation) -> int:
    lock = _story_of(talk).with_name("lock")
    return int(json.loads(lock.read_text())["pid"])


def _story_of(talk: Conversation) -> Path:
    (story,) = Path(talk.sandbox.project).glob("tasks/*/chats/c1/story.jsonl")
    return story
