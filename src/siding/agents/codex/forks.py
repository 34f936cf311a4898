"""The beginning of a forked conversation of the Codex CLI, which is in the file of another one.

A fork names the conversation that it was forked from, and the ordinal of the first line of that
which is none of its own (`forked_from_id` and `forked_from_ordinal_exclusive`; seen in 0.169.0 and
0.171.0). Its file has only what was said since. Releases before copied the lines: so does `whole`,
across several generations. What the other conversation was told later is not of the fork.
"""

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from siding.agents.transcripts.kinds import Record
from siding.ground.errors import UnreadableFile
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object

MOST_BYTES = 1024 * 1024 * 1024  # of a file that must be in memory as a whole
_NAMES = ("forked_from_id", "forked_from_ordinal_exclusive")
_LINEAGE = frozenset({*_NAMES, "history_base"})
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KEPT_IN = ("sessions", "archived_sessions")
_MOST_GENERATIONS = 100


class Fork(NamedTuple):
    """Where a conversation was forked from: `until` is the first ordinal that it does not have."""

    id: str
    until: int


class Beginning(NamedTuple):
    """The lines before a fork; `missing` is the conversation that is not there, "" if all are."""

    lines: tuple[bytes, ...] = ()
    missing: str = ""


def fork_in(meta: Record) -> Fork | None:
    """Return where a conversation was forked from; None if its file has all of it.

    `meta` is the payload of its `session_meta`.
    """
    named, until = (meta.get(name) for name in _NAMES)
    if not isinstance(named, str) or not isinstance(until, int):
        return None
    return Fork(named, until) if _ID.fullmatch(named) else None


def whole(path: Path, data: bytes) -> tuple[bytes, str]:
    """Return a rollout file with its beginning, and the conversation that is missing for that."""
    head, _, rest = data.partition(b"\n")
    record = _parsed(head)
    fork = _fork_of(record)
    if fork is None:
        return data, ""
    beginning = beginning_of(path, fork)
    if not beginning.lines:
        return data, beginning.missing
    # Codex does not go on with a file that names a fork whose other file is not there.
    meta = {name: value for name, value in record["payload"].items() if name not in _LINEAGE}
    # Lines are numbered upwards: its own number is behind those that come next now.
    first = {**record, "ordinal": 0, "payload": meta}
    text = json.dumps(first, ensure_ascii=False, separators=(",", ":"))
    lines = [text.encode("utf-8", "surrogateescape"), *beginning.lines, rest]
    return b"\n".join(lines), beginning.missing


def beginning_of(path: Path, fork: Fork, passed: Collection[str] = frozenset()) -> Beginning:
    """Return what was said before a fork, without the lines about the sessions themselves."""
    if fork.id in passed or len(passed) > _MOST_GENERATIONS:
        return Beginning(missing=fork.id)
    parent = _find(path, fork.id)
    if parent is None:
        return Beginning(missing=fork.id)
    try:
        lines = read_bytes(parent, limit=MOST_BYTES).splitlines()
    except (OSError, UnreadableFile):
        return Beginning(missing=fork.id)
    before = Beginning()
    own: list[bytes] = []
    for line in lines:
        record = _parsed(line)
        if record.get("type") == "session_meta":
            above = _fork_of(record)
            if above is not None and not own:
                until = min(above.until, fork.until)
                before = beginning_of(path, Fork(above.id, until), {*passed, fork.id})
            continue
        ordinal = record.get("ordinal")
        if isinstance(ordinal, int) and ordinal < fork.until:
            own.append(line)
    return Beginning((*before.lines, *own), before.missing)


def _fork_of(record: Record) -> Fork | None:
    payload = record.get("payload")
    is_meta = record.get("type") == "session_meta" and isinstance(payload, dict)
    return fork_in(record["payload"]) if is_meta else None


def _find(path: Path, name: str) -> Path | None:
    """Return the file of a conversation: of the same home, archived or not, or beside the file."""
    return next(_places(path, name), None)


def _places(path: Path, name: str) -> Iterator[Path]:
    pattern = f"rollout-*-{name}.jsonl"
    yield from path.parent.glob(pattern)
    home = next((up.parent for up in path.parents if up.name in _KEPT_IN), None)
    for kept in _KEPT_IN if home is not None else ():
        assert home is not None
        yield from sorted((home / kept).rglob(pattern))


def _parsed(line: bytes) -> Record:
    try:
        return parse_object(line)
    except NotJson:
        return {}
