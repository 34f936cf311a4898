"""Subagents of the built-in agent: each works in a conversation of its own, beside the session.

A subagent works in the same workspace, with the same model and permissions; what it uses counts
with the turn that has called it. It lasts as long as the call.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from siding.agents.transcripts.session import Session
from siding.assistant.loop.compaction import measuring
from siding.assistant.loop.events import Answered, Denial, Ending, ModelUse, TurnEnded
from siding.assistant.loop.loop import converse
from siding.assistant.loop.setup import Setup, no_objection, nothing_queued, nothing_to_tell
from siding.assistant.session import SessionConversation, added
from siding.assistant.subagent_kinds import SubagentKind
from siding.assistant.tools.factory import Memory, tools_of
from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Call, Result, ToolSpec, Use
from siding.assistant.tools.spec import failed, spec_of
from siding.assistant.tools.spec import text as field
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text

NAME = "Agent"
_NOT_FOR_THEM = frozenset({NAME, "AskUserQuestion"})
_OF_SERVERS = "mcp__"


class SubagentWork(NamedTuple):
    """What subagents have used, and what they were denied, since it was last taken."""

    by_model: Mapping[str, ModelUse] = {}
    denials: tuple[Denial, ...] = ()


class Subagents:
    """Implements `Tool`. `setup` returns what a turn of the agent itself would begin with."""

    def __init__(
        self,
        kinds: Sequence[SubagentKind],
        session: Session,
        conversation: SessionConversation,
        place: Place,
        *,
        setup: Callable[[], Setup],
        new_id: Callable[[], str],
    ) -> None:
        self.kinds = {each.name: each for each in kinds}
        self._session = session
        self._conversation = conversation
        self._place = place
        self._setup = setup
        self._new_id = new_id
        self._work = SubagentWork()
        self._spec = self._described()

    @property
    def spec(self) -> ToolSpec:
        """See `Tool.spec`."""
        return self._spec

    def _described(self) -> ToolSpec:
        fields = {
            "description": field("what it does, in a few words, for the person", minLength=1),
            "prompt": field("what it is to do and to report", minLength=1),
            "subagent_type": field("one of the names above"),
        }
        spec = spec_of(__file__, NAME, fields, "description", "prompt")
        listed = "\n".join(f"  - {each.name}: {each.description}" for each in self.kinds.values())
        return spec._replace(
            description=f"{spec.description}\n{listed}",
            schema={**spec.schema, "additionalProperties": True},  # clients know more of them
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        """See `Tool.is_safe`."""
        return False

    def use(self, given: Mapping[str, Any], /) -> Use:
        """See `Tool.use`."""
        kind = text(given.get("subagent_type"))
        return Use(
            pattern=kind,
            text=f"{NAME} {kind}: {text(given.get('description'))}",
            in_conversation=True,  # each call of the subagent is decided on
        )

    async def run(self, call: Call) -> Result:
        """See `Tool.run`."""
        named = text(call.given.get("subagent_type")) or next(iter(self.kinds))
        kind = self.kinds.get(named)
        if kind is None:
            return failed(f"There is no subagent {named!r}. There are: {', '.join(self.kinds)}")
        agent_id = self._new_id().replace("-", "")[:16]
        session = await asyncio.to_thread(
            self._session.subagent,
            agent_id,
            kind=kind.name,
            description=str(call.given["description"]),
        )
        memory = Memory.of(self._place)
        try:
            ended = await self._talk(kind, session, memory, str(call.given["prompt"]))
        finally:
            await memory.close()
        return _result(ended, agent_id, kind)

    def take_work(self) -> SubagentWork:
        """Return what was used and denied since it was last taken."""
        taken, self._work = self._work, SubagentWork()
        return taken

    async def _talk(
        self, kind: SubagentKind, session: Session, memory: Memory, prompt: str
    ) -> TurnEnded:
        setup = self._setup_of(kind, session, memory)
        used: Mapping[str, ModelUse] = {}
        ended: TurnEnded | None = None
        try:
            async with aclosing(converse(setup, prompt, asyncio.Event())) as events:
                async for event in events:
                    if isinstance(event, Answered):  # an interrupt leaves no other account
                        use = ModelUse(event.usage, event.dollars, requests=1)
                        used = added(used, {event.model: use})
                    elif isinstance(event, TurnEnded):
                        ended, used = event, event.by_model
        finally:
            denials = () if ended is None else ended.denials
            self._work = SubagentWork(
                added(self._work.by_model, used), (*self._work.denials, *denials)
            )
        assert ended is not None
        return ended

    def _setup_of(self, kind: SubagentKind, session: Session, memory: Memory) -> Setup:
        setup = self._setup()
        own = tools_of(self._place, memory)
        tools = {
            # The agent's own remember what it has read; a subagent has not read it.
            name: own.get(name, tool)
            for name, tool in setup.tools.items()
            if _has(kind, name) and (name in own or name.startswith(_OF_SERVERS))
        }
        return setup._replace(
            conversation=self._conversation.beside(session),
            tools=tools,
            name=kind.model or setup.name,
            system=(kind.prompt, *setup.system[1:]) if kind.prompt else setup.system,
            schema=None,
            queued=nothing_queued,
            reminders=nothing_to_tell,
            stop_hooks=no_objection,
            measure=measuring(),
        )


def _has(kind: SubagentKind, tool: str) -> bool:
    if tool in _NOT_FOR_THEM or tool in kind.without:
        return False
    return kind.tools is None or tool in kind.tools


def _result(ended: TurnEnded, agent_id: str, kind: SubagentKind) -> Result:
    tokens = ended.usage.prompt + ended.usage.output
    details = {
        "status": "completed" if ended.ending is Ending.COMPLETED else "failed",
        "agentId": agent_id,
        "agentType": kind.name,
        "content": [{"type": "text", "text": ended.text}],
        "totalTokens": tokens,
        "totalDurationMs": round(ended.wall_s * 1000),
    }
    if ended.ending is Ending.COMPLETED:
        said = ended.text or "The subagent has ended without a word."
        return Result(said, shown=f"{kind.name}: {counted(tokens, 'token')}", details=details)
    why = f"{ended.ending.value}: {ended.error}" if ended.error else ended.ending.value
    last = f" Its last words: {ended.text}" if ended.text else ""
    return Result(
        f"The subagent was not done ({why}).{last}",
        is_error=True,
        shown=f"{kind.name}: {ended.ending.value}",
        details=details,
    )
