"""Have Codex go on with a conversation without the turns that were taken back.

Codex itself makes the copy: its server (`codex app-server`, JSON-RPC by lines) tells the turns of a
thread and forks it after the last one that stands. The old thread stays whole. The server is given
the settings of the command line: a thread keeps the provider of its model for good. Tried with
0.169.0.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from siding.agents.hooks import NEWEST, CannotShorten, Past, Shortened, first_gone
from siding.ground.process.capture import CannotStart, OutputTooLarge, TimedOut
from siding.ground.process.dialogue import converse
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.fields import mapping, mappings, text

_RESUME = "resume"
_LAST = "--last"
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OF_SETTINGS = frozenset({"-c", "--config", "--enable", "--disable"})
_JOINED = ("--config=", "--enable=", "--disable=")
_NOT_FOR_SERVERS = frozenset({"-p", "--profile", "--oss", "--local-provider"})
_PATIENCE_S = 20.0
_HELLO, _READ, _FORK = 1, 2, 3  # the numbers of the requests


def continues(argv: tuple[str, ...]) -> str | None:
    """Return the id of the conversation that a command line goes on with, or NEWEST."""
    if _RESUME not in argv:
        return None
    later = argv[argv.index(_RESUME) + 1 :]
    if _LAST in later:
        return NEWEST
    return next((word for word in later if _ID.fullmatch(word)), None)


def without(argv: tuple[str, ...], past: Past) -> Shortened | None:
    """Return the command line that goes on with a fork. Raises CannotShorten."""
    for word in _NOT_FOR_SERVERS.intersection(argv):
        raise CannotShorten(f"its server, which would make a copy, does not take {word}")
    if past.is_sandboxed:
        # It might start what settings in the workspace name, which an earlier run may have written.
        raise CannotShorten("its server, which would make a copy, would run outside of the sandbox")
    forking = _Forking(past)
    server = (argv[0], *_settings(argv[1:]), "app-server")
    try:
        converse(
            server,
            [_request(_HELLO, "initialize", clientInfo=_WE), _request(None, "initialized")],
            forking.react,
            env=past.env,
            cwd=past.cwd,
            timeout_s=_PATIENCE_S,
        )
    except (CannotStart, TimedOut, OutputTooLarge) as error:
        raise CannotShorten(f"its server did not answer: {error}") from error
    if not forking.is_over:
        raise CannotShorten("its server has ended")
    if not forking.first:
        return None
    where = argv.index(_RESUME)
    rest = tuple(word for word in argv[where + 1 :] if word not in (_LAST, continues(argv)))
    again = (_RESUME, forking.made) if forking.made else ()
    return Shortened((*argv[:where], *again, *rest), forking.first)


_WE = {"name": "siding", "title": "Siding", "version": "1"}


class _Forking:
    """The dialogue with the server. `first` is the first turn to leave out, `made` the fork."""

    def __init__(self, past: Past) -> None:
        self.first, self.made, self.is_over = "", "", False
        self._session = past.session
        self._gone = {each.turn for each in past.turns if not each.stands}
        self._reported = [e.turn for e in past.turns if e.transcript == past.transcript]

    def react(self, line: bytes) -> Sequence[bytes] | None:
        """Return what is asked next; None when it is over. Raises CannotShorten."""
        answer = _answer(line)
        if "error" in answer:
            said = text(mapping(answer["error"]).get("message")) or "it failed"
            raise CannotShorten(f"its server made no copy: {said}")
        thread = mapping(mapping(answer.get("result")).get("thread"))
        number = answer.get("id")
        if number == _HELLO:
            return [_request(_READ, "thread/read", threadId=self._session, includeTurns=True)]
        if number == _READ:
            told = [text(turn.get("id")) for turn in mappings(thread.get("turns"))]
            # It tells what its index has, and a run in a sandbox had an index of its own.
            last = self._choose([*told, *(turn for turn in self._reported if turn not in told)])
            if last:
                return [_request(_FORK, "thread/fork", threadId=self._session, lastTurnId=last)]
        elif number == _FORK:
            self.made = text(thread.get("id"))
        else:
            return []  # something that it tells by itself
        self.is_over = True
        return None

    def _choose(self, turns: list[str]) -> str:
        """Note the first turn to leave out; return the last one to keep, "" if no copy is made."""
        at = first_gone([turn in self._gone for turn in turns])
        if at is None:
            return ""
        self.first = turns[at]
        return turns[at - 1] if at else ""


def _settings(words: tuple[str, ...]) -> list[str]:
    """Return the words of a command line that change the configuration."""
    found: list[str] = []
    for word, after in pairwise((*words, "")):
        if word in _OF_SETTINGS:
            found += [word, after]
        elif word.startswith(_JOINED):
            found.append(word)
    return found


def _request(number: int | None, method: str, **params: Any) -> bytes:
    named = {} if number is None else {"id": number}
    return json.dumps(
        {**named, "method": method, **({"params": params} if params else {})}
    ).encode()


def _answer(line: bytes) -> Mapping[str, Any]:
    try:
        return parse_object(line)
    except NotJson:
        return {}
