"""Have Claude Code go on with a conversation without the turns that were taken back.

It is given a copy of the transcript that ends before the first of them (`--resume FILE`) and makes
a conversation of its own of it (`--fork-session`), so that the old one stays whole. The copy ends
with a note where to go on (`last-prompt` with a `leafUuid`), which 2.1.329 follows; 2.1.197 goes on
at the newest message of the copy, which is the same one unless somebody had gone back inside the
agent. Both were tried.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from siding.agents.claude.resuming import FORK, RESUME, given_in
from siding.agents.hooks import NEWEST, CannotShorten, Past, PastTurn, Shortened, first_gone
from siding.agents.transcripts.heads import MessageHead
from siding.agents.transcripts.kinds import USER
from siding.agents.transcripts.messages import text_of
from siding.agents.transcripts.reading.transcript import Transcript
from siding.ground.files.regular import open_regular
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.fields import text

_PROMPT = re.compile(rb'"promptId":"([^"\\]+)"')  # as the agent writes it: without blanks
_CHUNK = 1 << 20
# Commands for the agent itself (`/compact`) and what they print, and the end of helpers.
_NOT_TYPED = ("<command-", "<local-command-", "<task-notification>")
_COMPARED = 200  # characters of a prompt


class _Prompt(NamedTuple):
    head: MessageHead
    turn: PastTurn | None  # None: nobody reported it
    said: str = ""


def without(argv: tuple[str, ...], past: Past) -> Shortened | None:
    """Return the command line that goes on with a copy. Raises CannotShorten, OSError."""
    given = given_in(argv[1:])
    if not _is_own(past.transcript, past.env):
        raise CannotShorten("its file is not among those of the agent")
    if given.session == NEWEST and not _is_newest(past.transcript):
        raise CannotShorten("another conversation in this directory is newer")
    with Transcript.unsettled(past.transcript) as transcript:
        end = transcript.end()
        heads = [] if end is None else transcript.history(end.uuid)
        prompts = _prompts(transcript, heads, _messages(past))
    at = first_gone([each.turn is not None and not each.turn.stands for each in prompts])
    if at is None:
        return None
    first = prompts[at]
    assert first.turn is not None
    if at == 0:
        rest = (word for word in given.rest if word != FORK)
        return Shortened((argv[0], *rest), first.turn.turn)
    _copy(past, first.head)
    fork = () if FORK in given.rest else (FORK,)
    words = (argv[0], RESUME[0], str(past.copy), *fork, *given.rest)
    return Shortened(words, first.turn.turn)


def _is_newest(transcript: Path) -> bool:
    """Tell whether no conversation beside this one, in its directory, was changed later."""
    ours = transcript.stat().st_mtime_ns
    return all(each.stat().st_mtime_ns <= ours for each in transcript.parent.glob("*.jsonl"))


def _is_own(transcript: Path, env: Mapping[str, str]) -> bool:
    """Tell whether a file is where the agent keeps its transcripts: a run may name any file."""
    home = env.get("CLAUDE_CONFIG_DIR") or os.path.join(env.get("HOME", ""), ".claude")
    there = os.path.realpath(os.path.join(home, "projects"))
    return Path(os.path.realpath(transcript.parent)).is_relative_to(there)


def _messages(past: Past) -> dict[str, PastTurn]:
    """Return the turns by the ids of the messages that began them.

    A copy of a conversation keeps the ids of messages, but has one id for all of its prompts, that
    of the first new one.
    """
    by_file: dict[Path, dict[bytes, PastTurn]] = {}
    for turn in past.turns:
        if not _is_own(turn.transcript, past.env):
            continue
        by_file.setdefault(turn.transcript, {})[turn.turn.encode()] = turn
    found: dict[str, PastTurn] = {}
    for path, wanted in by_file.items():
        with suppress(FileNotFoundError):
            found |= {message: turn for turn, message in _beginnings(path, wanted)}
    return found


def _beginnings(path: Path, wanted: Mapping[bytes, PastTurn]) -> Iterable[tuple[PastTurn, str]]:
    """Return each turn with the message that began it: of those with its words the last one."""
    best: dict[bytes, tuple[bool, str]] = {}
    with os.fdopen(open_regular(path), "rb") as file:
        for line in file:
            turn = _turn_in(line)
            if turn not in wanted or b'"tool_use_id"' in line:
                continue
            try:
                message = parse_object(line)
            except NotJson:
                continue
            words = text_of(message).strip()[:_COMPARED]
            is_it = bool(words) and wanted[turn].prompt.strip().startswith(words)
            if message.get("type") == USER and (is_it or not best.get(turn, (False, ""))[0]):
                best[turn] = is_it, text(message.get("uuid"))
    return [(wanted[turn], message) for turn, (_is_it, message) in best.items()]


def _turn_in(line: bytes) -> bytes:
    named = _PROMPT.search(line)
    return named[1] if named else b""


def _prompts(
    transcript: Transcript, heads: Iterable[MessageHead], known: Mapping[str, PastTurn]
) -> list[_Prompt]:
    """Return the prompts in the order of the conversation, also those that nobody reported.

    What the agent itself has put there, such as the summary of a compaction, is none.
    """
    found: list[_Prompt] = []
    group = b""
    for head in heads:
        if head.kind != USER or head.answers:
            continue
        line = transcript.raw(head.offset, head.size)
        said = typed(line)
        if head.uuid not in known and said is None:
            continue
        turn = _turn_in(line)
        if head.uuid in known or turn not in (b"", group):
            found.append(_Prompt(head, known.get(head.uuid), said or ""))
        group = turn or group
    return _in_turns(found)


def _in_turns(prompts: list[_Prompt]) -> list[_Prompt]:
    """Give the prompts that were typed while Claude Code worked to the turn that they are of.

    If it has begun with them by itself, each is a message with an id of its own, which nobody has
    reported: they stand before or behind the message of the turn, and have its words.
    """
    found = list(prompts)
    for towards in (1, -1):
        order = range(len(found)) if towards == 1 else range(len(found) - 1, -1, -1)
        for at in order:
            beside = at - towards
            if found[at].turn is None and 0 <= beside < len(found):
                near = found[beside].turn
                if near is not None and _is_of(found[at].said, near):
                    found[at] = found[at]._replace(turn=near)
    return found


def _is_of(said: str, turn: PastTurn) -> bool:
    words = said.strip()[:_COMPARED]
    return bool(words and turn.later) and any(
        each.strip().startswith(words) for each in (turn.prompt, *turn.later)
    )


def typed(line: bytes) -> str | None:
    """Return what a person typed, as a message has it; None if it is the agent's own."""
    try:
        message = parse_object(line)
    except NotJson:
        return ""
    if message.get("isMeta") or message.get("isCompactSummary"):
        return None
    said = text_of(message)
    return None if said.lstrip().startswith(_NOT_TYPED) else said


def _copy(past: Past, first: MessageHead) -> None:
    """Copy what was there before the first prompt that is left out, and say where to go on."""
    leaf = {"type": "last-prompt", "leafUuid": first.parent, "sessionId": past.session}
    left = first.offset
    transcript = open_regular(past.transcript)
    with os.fdopen(transcript, "rb") as file, past.copy.open("xb") as copy:
        while left and (data := file.read(min(left, _CHUNK))):
            copy.write(data)
            left -= len(data)
        copy.write(json.dumps(leaf, separators=(",", ":")).encode() + b"\n")
