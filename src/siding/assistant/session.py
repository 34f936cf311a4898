"""The conversation of the built-in agent, in a session of the project.

What is said is stored there, with what the models used; where turns were taken back, it goes on
before them.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from siding.agents.transcripts.compaction import Trigger
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.reading.views import Spoken
from siding.agents.transcripts.session import AnswerPart, Session
from siding.assistant.loop.events import ModelUse
from siding.assistant.loop.model import Block, Ended, Message, Started, Usage, same_at_first
from siding.assistant.tools.port import Call, Result
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text, whole

T = TypeVar("T")


class SessionConversation:
    """Stores what is said in a session, one line after the other.

    A flush may take long on a busy disk, so each is waited for in a thread.
    """

    def __init__(self, session: Session, one: asyncio.Lock | None = None) -> None:
        self._session = session
        self._one = one or asyncio.Lock()
        self._turn = self._mode = ""
        self._shown: list[Spoken] = []
        self._messages: list[Message] = []  # of what is shown

    def beside(self, session: Session) -> "SessionConversation":
        """Return the conversation of another session that has the same writer."""
        return SessionConversation(session, self._one)

    def turn_begins(self, turn: str, mode: str) -> None:
        """Have the next prompt be the beginning of the turn with this id, in this mode."""
        self._turn, self._mode = turn, mode

    def context(self) -> Sequence[Message]:
        """Return what the model sees."""
        spoken = self._session.context()
        # What is settled is not made again: a request would take longer with each turn.
        same = same_at_first(self._shown, spoken)
        self._messages[same:] = map(message_of, spoken[same:])
        self._shown = spoken
        return [*self._messages]

    async def user(self, content: str | Sequence[Block], *, hidden: bool = False) -> str:
        """Store a prompt; return its id."""
        turn, mode = ("", "") if hidden else (self._turn, self._mode)
        line = await self._stored(
            lambda: self._session.user(content, hidden=hidden, turn=turn, mode=mode)
        )
        return str(line["uuid"])

    async def said(
        self, answer: Started, block: Block, usage: Usage, ended: Ended | None = None
    ) -> str:
        """Store a block of an answer; return the id of its line."""
        part = AnswerPart(
            answer=answer.id,
            model=answer.model,
            block=block,
            usage={
                "input_tokens": usage.input,
                "cache_creation_input_tokens": usage.cache_write,
                "cache_read_input_tokens": usage.cache_read,
                "output_tokens": usage.output,
            },
            stop_reason=None if ended is None else ended.reason.value,
            kept={} if ended is None else ended.kept,
        )
        line = await self._stored(lambda: self._session.said(part))
        return str(line["uuid"])

    async def result(self, call: Call, result: Result) -> str:
        """Store the result of a call; return the id of its line."""
        content = result.content
        blocks = content if isinstance(content, str) else [dict(each) for each in content]
        line = await self._stored(
            lambda: self._session.result(
                call.id, blocks, is_error=result.is_error, details=dict(result.details)
            )
        )
        return str(line["uuid"])

    async def withdraw(self, answer: str) -> Sequence[str]:
        """Withdraw an answer; return the ids of its lines and of the results of its calls."""
        return await self._stored(lambda: self._session.withdraw(answer))

    async def compact(
        self, summary: str, *, trigger: str, tokens: int, keep_from: str | None
    ) -> str:
        """Go on with a summary; return the id of the boundary."""
        why = Trigger(trigger)
        line = await self._stored(
            lambda: self._session.compact(summary, trigger=why, tokens=tokens, keep_from=keep_from)
        )
        return str(line["uuid"])

    async def _stored(self, write: Callable[[], T]) -> T:
        async with self._one:
            return await asyncio.to_thread(write)


def message_of(spoken: Spoken) -> Message:
    """Return what was said as the model is sent it."""
    return Message(
        role="assistant" if spoken.role == "assistant" else "user",
        content=_blocks(spoken.content),
        kept=spoken.kept,
    )


def _blocks(content: object) -> list[Block]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [dict(each) for each in content] if isinstance(content, list) else []


# -- Where a conversation goes on when turns of it were taken back or done again. Pure -------------
#
# The ledger says which turns stand; the lines of the transcript say what belongs to a turn: the
# prompt with its `promptId`, and what follows it until the next prompt.


class GoesOn(NamedTuple):
    """The id of the message that a conversation goes on after; None: it begins anew."""

    after: str | None


def going_on(
    records: Sequence[Record], chain: Iterable[Record], turns: Sequence[tuple[str, bool]]
) -> GoesOn | None:
    """Return where the conversation goes on; None if it is there already.

    `records` are all lines of the transcript in their order, `chain` those that the model sees now.
    `turns` are the turns that the ledger knows, oldest first, and whether each stands. A turn that
    it does not know, because it was not recorded, stands.
    """
    gone = {turn for turn, stands in turns if not stands}
    newest = next((turn for turn, stands in reversed(turns) if stands), "")
    now = [each for each in chain if _turn(each)]
    first_gone = next((each for each in now if _turn(each) in gone), None)
    prompts = {_turn(each): each for each in records if _turn(each)}
    if newest in prompts and not any(_turn(each) == newest for each in now):
        return GoesOn(_last_of(records, prompts[newest]))
    if first_gone is None:
        return None
    return GoesOn(text(first_gone.get("parentUuid")) or None)


def _last_of(records: Sequence[Record], prompt: Record) -> str:
    """Return the id of the last message of a turn: on its newest branch, before another prompt."""
    newest: dict[str, str] = {}  # message -> the last one written after it, of the same turn
    turn = _turn(prompt)
    for each in records:
        if _turn(each) in ("", turn):
            newest[text(each.get("parentUuid"))] = text(each.get("uuid"))
    return _followed(newest, text(prompt.get("uuid")))


def _followed(newest: Mapping[str, str], uuid: str) -> str:
    seen = {uuid}
    while (after := newest.get(uuid, "")) and after not in seen:
        seen.add(after)
        uuid = after
    return uuid


def _turn(record: Record) -> str:
    return text(record.get("promptId"))


# --------------------------------------------------------------------------------------------------
# What the models of a conversation have used, kept in its transcript from process to process


def entry_of(total: Mapping[str, ModelUse], now: str) -> Record:
    """Return the line that says what was used in the conversation until now."""
    costs = [each.dollars for each in total.values()]
    return {
        "type": "cost-state",
        "timestamp": now,
        **({} if None in costs else {"totalCostUSD": sum(each or 0.0 for each in costs)}),
        "modelUsage": {
            model: {
                "inputTokens": use.usage.input,
                "outputTokens": use.usage.output,
                "cacheReadInputTokens": use.usage.cache_read,
                "cacheCreationInputTokens": use.usage.cache_write,
                "requests": use.requests,
                **({} if use.dollars is None else {"costUSD": use.dollars}),
            }
            for model, use in total.items()
        },
    }


def used_in(entry: Record | None) -> dict[str, ModelUse]:
    """Return what such a line says; {} if there is none."""
    return {
        model: _use(mapping(found))
        for model, found in mapping((entry or {}).get("modelUsage")).items()
    }


def _use(found: Mapping[str, object]) -> ModelUse:
    dollars = found.get("costUSD")
    return ModelUse(
        Usage(
            input=whole(found.get("inputTokens")),
            output=whole(found.get("outputTokens")),
            cache_read=whole(found.get("cacheReadInputTokens")),
            cache_write=whole(found.get("cacheCreationInputTokens")),
        ),
        float(dollars) if isinstance(dollars, int | float) else None,
        whole(found.get("requests")),
    )


def added(one: Mapping[str, ModelUse], other: Mapping[str, ModelUse]) -> dict[str, ModelUse]:
    """Return the sums by model. A sum with a part that is not known is not known."""
    return {
        model: _sum(one.get(model, ModelUse()), other.get(model, ModelUse()))
        for model in dict.fromkeys((*one, *other))
    }


def _sum(one: ModelUse, other: ModelUse) -> ModelUse:
    dollars = None
    if one.dollars is not None and other.dollars is not None:
        dollars = one.dollars + other.dollars
    return ModelUse(one.usage.plus(other.usage), dollars, one.requests + other.requests)
