"""Count the calls of many conversations, each call once.

- A call that is in several lines or files (blocks of an answer, branches, forks) counts once, with
  the largest usage seen, for the conversation that it was made in.
- Calls in no line, such as compactions, are the difference between a conversation's lines and the
  client's running total. A fork's running total begins with its parent's.
"""

from collections.abc import Iterable, Iterator

from siding.agents.table import OUR_FORM
from siding.agents.transcripts.counting import Call, Counted, CountedFile, Tokens, counting_of
from siding.agents.transcripts.homes import KEPT_HERE
from siding.ground.namedtuples import NamedTuple

_COPIED_WITHIN_MS = 2_000  # a fork's copies are written as it begins


class Spent(NamedTuple):
    """One call and where it belongs.

    `hidden`: not one call but what is in the client's running total and in no line.
    """

    client: str
    session: str
    call: Call
    hidden: bool = False


class _Conversation(NamedTuple):
    client: str
    parts: list[Counted]  # its transcript, and those of its subagents
    mtime: int

    @property
    def order(self) -> tuple[bool, int, int]:
        """A conversation comes before those that were copied from it."""
        is_fork, first = False, 0
        for part in self.parts:
            is_fork = is_fork or bool(part.parent)
            for call in part.calls:  # of all that was ever counted: without a list in between
                at = call.at
                if at and (not first or at < first):
                    first = at
                if call.is_copy:
                    is_fork = True
        return (is_fork, first, self.mtime)


def spent_in(files: Iterable[CountedFile]) -> list[Spent]:
    """Return the calls in all these files, each once."""
    conversations = _conversations(files)
    if not conversations:
        return []
    found: dict[tuple[str, str], Spent] = {}
    unnamed: list[Spent] = []
    copied_from: dict[str, str] = {}
    totals = _totals(conversations)
    for session, one in sorted(conversations.items(), key=lambda each: each[1].order):
        client = one.client
        repeats_parent = counting_of(client).repeats_parent
        for part in one.parts:
            if repeats_parent:
                calls = _without_copies(part, totals)
                unnamed += [Spent(client, session, call) for call in calls]
                continue
            kind = OUR_FORM if client == KEPT_HERE else client
            for call in part.calls:
                if client == KEPT_HERE and call.is_copy:
                    continue  # of a session here, or of one that its client has
                if not call.key:
                    unnamed.append(Spent(client, session, call))
                    continue
                key = (kind, call.key)
                known = found.get(key)
                if known is None:
                    found[key] = Spent(client, session, call)
                    continue
                if known.session != session:
                    copied_from.setdefault(session, known.session)
                if call.tokens.total > known.call.tokens.total:
                    found[key] = known._replace(call=call)
    return [*found.values(), *unnamed, *_hidden(conversations, copied_from)]


def _conversations(files: Iterable[CountedFile]) -> dict[str, _Conversation]:
    found: dict[str, _Conversation] = {}
    for file in files:
        for counted in file.read.conversations:
            name = counted.session or file.found.path.stem
            one = found.setdefault(name, _Conversation(file.found.client, [], file.found.mtime_ns))
            one.parts.append(counted)
    return found


def _totals(conversations: dict[str, _Conversation]) -> dict[str, set[str]]:
    """Return the running totals of the conversations that others were forked from."""
    parents = {part.parent for one in conversations.values() for part in one.parts if part.parent}
    return {
        name: {call.key for part in conversations[name].parts for call in part.calls}
        for name in parents
        if name in conversations
    }


def _without_copies(part: Counted, totals: dict[str, set[str]]) -> list[Call]:
    """Return the calls of a fork that it does not have of its parent.

    A copy has the same total, and was written as the fork began.
    """
    theirs = totals.get(part.parent)
    if not theirs:
        return part.calls
    return [
        call
        for call in part.calls
        if call.key not in theirs or abs(call.at - part.began) > _COPIED_WITHIN_MS
    ]


def _hidden(
    conversations: dict[str, _Conversation], copied_from: dict[str, str]
) -> Iterator[Spent]:
    """Yield the tokens that are in a client's running total and in no line."""
    unseen = {
        session: _unseen(one)
        for session, one in conversations.items()
        if any(part.stated for part in one.parts)
    }
    for session, models in unseen.items():
        inherited = unseen.get(copied_from.get(session, ""), {})
        one = conversations[session]
        last = max((call for part in one.parts for call in part.calls), key=_at, default=None)
        for model, tokens in models.items():
            own = tokens.less(inherited.get(model, Tokens()))
            if own.total:
                yield Spent(one.client, session, _call_of(model, own, last), hidden=True)


def _at(call: Call) -> int:
    return call.at


def _call_of(model: str, tokens: Tokens, last: Call | None) -> Call:
    return Call(
        key="",
        at=last.at if last is not None else 0,
        model=model.partition("[")[0],
        provider=last.provider if last is not None else "",
        cwd=last.cwd if last is not None else "",
        turn=last.turn if last is not None else 0,
        tokens=tokens,
    )


def _unseen(one: _Conversation) -> dict[str, Tokens]:
    """Return by model what the running total has and the lines do not."""
    calls: dict[str, Call] = {}
    for number, call in enumerate(call for part in one.parts for call in part.calls):
        key = call.key or str(number)
        if key not in calls or call.tokens.total > calls[key].tokens.total:
            calls[key] = call
    lines: dict[str, Tokens] = {}
    for call in calls.values():
        lines[call.model] = lines.get(call.model, Tokens()).plus(call.tokens)
    stated = {name: use for part in one.parts for name, use in part.stated.items()}
    found = {}
    for model, use in stated.items():
        # Claude Code's total may name a variant ("some-model[1m]"); its lines do not.
        own = lines.get(model, lines.get(model.partition("[")[0], Tokens()))
        # The total does not tell how long a cache was to live.
        own = own._replace(cache_write_5m=own.cache_write, cache_write_1h=0)
        found[model] = use.less(own)._replace(calls=0, reasoning=0)
    return found
