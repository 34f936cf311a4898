"""Count the tokens that conversations cost, each call once.

- An answer of several blocks is several lines with the same usage. It is counted once by message id
  and request id, in all files together, so copies in branches and forks do not count again. If the
  usages differ, the larger one counts.
- Subagents' own files are counted; the summary of their usage in the parent's result is not.
- Some calls are in no line: compactions, titles. They are the difference between the lines and the
  client's running total. A fork's running total starts with its parent's.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from siding.files.regular import open_with_stat
from siding.namedtuples import NamedTuple
from siding.sessions.heads import TOO_ODD
from siding.sessions.reading.locate import lines_from

UNKNOWN_MODEL = "(unknown)"
_SYNTHETIC = "<synthetic>"


class Tokens(NamedTuple):
    """Counts of tokens, and of calls to a model."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    calls: int = 0

    def plus(self, other: "Tokens") -> "Tokens":
        """Return the sum of both."""
        return Tokens(*(one + two for one, two in zip(self, other, strict=True)))

    @property
    def total(self) -> int:
        """The number of tokens of all kinds."""
        return self.input + self.output + self.cache_read + self.cache_write


class UsageSource(NamedTuple):
    """A session's files: its transcript and those of its subagents."""

    session_id: str
    paths: tuple[Path, ...]


class Spent(NamedTuple):
    """Tokens of one day, model, session and directory.

    `day`: the ISO date in UTC, "" when unknown. `cwd`: the directory the agent worked in. `hidden`:
    the tokens are in the client's running total but in no line of the conversation.
    """

    day: str
    model: str
    session_id: str
    cwd: str
    hidden: bool
    tokens: Tokens


class _Usage(Struct, gc=False):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0


class _Answer(Struct, gc=False):
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None


class _ModelUse(Struct, rename="camel"):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


class _Line(Struct, rename="camel", gc=False):
    type: str = ""
    message: _Answer | None = None
    request_id: str | None = None
    timestamp: str | None = ""
    cwd: str | None = ""
    model_usage: dict[str, _ModelUse] | None = None


_DECODER = msgspec.json.Decoder(_Line)


class _Call(NamedTuple):
    session_id: str
    day: str
    model: str
    cwd: str
    tokens: Tokens


class Counting:
    """Counts the tokens of several sessions.

    A call that is in several of them counts for the session that was added first, with the largest
    usage seen.
    """

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], _Call] = {}
        self._unnamed: list[_Call] = []
        self._own: dict[str, dict[str, Tokens]] = {}  # session -> model -> all its lines
        self._states: dict[str, dict[str, _ModelUse]] = {}
        self._last_day: dict[str, str] = {}
        self._copied_from: dict[str, str] = {}

    def add(self, source: UsageSource) -> None:
        """Count one session. Raises OSError or `UnreadableFile` if a file cannot be read."""
        seen: dict[tuple[str, str], Tokens] = {}
        for path in source.paths:
            for line in _lines(path):
                if line.model_usage is not None:
                    self._states[source.session_id] = line.model_usage
                elif line.message is not None and line.message.usage is not None:
                    self._add_call(source.session_id, line, seen)

    def _add_call(self, session: str, line: _Line, seen: dict[tuple[str, str], Tokens]) -> None:
        answer = line.message
        assert answer is not None
        assert answer.usage is not None
        model = answer.model or UNKNOWN_MODEL
        if model == _SYNTHETIC:
            return
        use = answer.usage
        tokens = Tokens(
            input=max(0, use.input_tokens),
            output=max(0, use.output_tokens),
            cache_read=max(0, use.cache_read_input_tokens or 0),
            cache_write=max(0, use.cache_creation_input_tokens or 0),
            calls=1,
        )
        call = _Call(session, (line.timestamp or "")[:10], model, line.cwd or "", tokens)
        self._last_day[session] = max(self._last_day.get(session, ""), call.day)
        if answer.id is None:
            self._unnamed.append(call)
            self._add_own(session, model, tokens)
            return
        key = (answer.id, line.request_id or "")
        before = seen.get(key)
        if before is None or tokens.total > before.total:
            less = Tokens() if before is None else Tokens(*(-each for each in before))
            self._add_own(session, model, tokens.plus(less))
            seen[key] = tokens
        known = self._calls.get(key)
        if known is None:
            self._calls[key] = call
            return
        if known.session_id != session:
            self._copied_from.setdefault(session, known.session_id)
        if tokens.total > known.tokens.total:
            self._calls[key] = known._replace(tokens=tokens)

    def _add_own(self, session: str, model: str, tokens: Tokens) -> None:
        own = self._own.setdefault(session, {})
        own[model] = own.get(model, Tokens()).plus(tokens)

    def spent(self) -> list[Spent]:
        """Return the tokens counted so far, sorted by day, model, session and directory."""
        sums: dict[tuple[str, str, str, str], Tokens] = {}
        for call in (*self._calls.values(), *self._unnamed):
            key = (call.day, call.model, call.session_id, call.cwd)
            sums[key] = sums.get(key, Tokens()).plus(call.tokens)
        found = [
            Spent(day, model, session, cwd, False, tokens)
            for (day, model, session, cwd), tokens in sums.items()
        ]
        return sorted([*found, *self._hidden()])

    def _hidden(self) -> Iterator[Spent]:
        """Yield the tokens that are in a session's running total and in no line."""
        unseen = {session: self._unseen(session) for session in self._states}
        for session, models in unseen.items():
            inherited = unseen.get(self._copied_from.get(session, ""), {})
            for model, tokens in models.items():
                own = _less(tokens, inherited.get(model, Tokens()))
                if own.total:
                    day = self._last_day.get(session, "")
                    yield Spent(day, model, session, "", True, own)

    def _unseen(self, session: str) -> dict[str, Tokens]:
        found = {}
        for model, use in self._states[session].items():
            stated = Tokens(
                input=use.input_tokens,
                output=use.output_tokens,
                cache_read=use.cache_read_input_tokens,
                cache_write=use.cache_creation_input_tokens,
            )
            # Claude Code's total may name a variant ("some-model[1m]"); its lines do not.
            name = model.partition("[")[0]
            lines = self._own.get(session, {})
            own = lines.get(model, lines.get(name, Tokens()))
            found[model] = _less(stated, own)._replace(calls=0)
        return found


def summed(spent: Iterable[Spent], key: str) -> dict[str, Tokens]:
    """Return the tokens by `day`, `model`, `session_id` or `cwd`."""
    sums: dict[str, Tokens] = {}
    for each in spent:
        name = str(getattr(each, key))
        sums[name] = sums.get(name, Tokens()).plus(each.tokens)
    return dict(sorted(sums.items()))


def _less(one: Tokens, two: Tokens) -> Tokens:
    return Tokens(*(max(0, a - b) for a, b in zip(one, two, strict=True)))


def _lines(path: Path) -> Iterator[_Line]:
    """Yield the lines that count tokens; others are not even parsed."""
    fd, status = open_with_stat(path)
    try:
        for _, lines in lines_from(fd, 0, status.st_size):
            for raw in lines:
                if b'"usage"' not in raw and b'"modelUsage"' not in raw:
                    continue
                try:
                    line = _DECODER.decode(raw)
                except TOO_ODD:
                    continue  # a damaged line; `siding session doctor` reports it
                if line.type == "assistant" or line.model_usage is not None:
                    yield line
    finally:
        os.close(fd)
