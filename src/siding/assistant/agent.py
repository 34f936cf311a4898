"""The built-in agent at work: one conversation, from its beginning to its end.

`opened_agent` puts it together. The agent knows no front end: `say` yields what happens.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path

from siding.agents.transcripts.session import Session, Source
from siding.agents.transcripts.store import SessionStore
from siding.assistant.briefing import FollowingContext
from siding.assistant.broker import Reports, RunJudge
from siding.assistant.hooks import ConversationHooks, StopHooks
from siding.assistant.loop.compaction import estimated, longest
from siding.assistant.loop.events import Compacted, Ending, Event, ModelUse, ToolStarted, TurnEnded
from siding.assistant.loop.loop import converse
from siding.assistant.loop.permissions.guard import PermissionGuard
from siding.assistant.loop.permissions.rules import mode_named
from siding.assistant.loop.setup import Content, Setup
from siding.assistant.session import SessionConversation, added, entry_of, going_on, used_in
from siding.assistant.subagent_kinds import SubagentKind
from siding.assistant.subagents import NAME as SUBAGENT
from siding.assistant.subagents import Subagents
from siding.assistant.tools.factory import Bounded
from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Tool
from siding.ground.namedtuples import NamedTuple


class Parts(NamedTuple):
    """What a conversation stands on.

    `store` is None if it is not kept, `reports` outside of a run.
    """

    session: Session
    conversation: SessionConversation
    workspace: Path
    source: Source
    guard: PermissionGuard
    place: Place
    without: Collection[str] = ()  # names of tools
    is_new: bool = True
    store: SessionStore | None = None
    reports: Reports | None = None
    judge: RunJudge | None = None  # in a run of its own
    context: FollowingContext | None = None
    stop_hooks: StopHooks | None = None


class ContextSize(NamedTuple):
    """What the next request consists of, in tokens, estimated. `tools` are by their names.

    `window` is that of the model; from `summed_up_at` on the conversation is summed up first.
    """

    system: int
    tools: Mapping[str, int]
    messages: int
    window: int
    summed_up_at: int


class Agent:
    """One conversation. One turn is under way at a time.

    `used` is what its models have used, earlier processes included.
    """

    def __init__(self, setup: Setup, parts: Parts) -> None:
        self.session = parts.session
        self.workspace = parts.workspace
        self.used: dict[str, ModelUse] = used_in(parts.session.metadata.cost_state)
        self._parts = parts
        self._setup = setup._replace(
            queued=self._taken, reminders=self._reminders, stop_hooks=self._objection
        )
        self._usual = setup.name
        self._stop = asyncio.Event()
        self._is_busy = False
        self._queue: list[Content] = []
        self._has_begun = False
        self._hooks: ConversationHooks | None = None
        self._subagents: Subagents | None = None
        self._looked_at: list[Path] = []  # by tools, since the model was last told about it
        # The task's newest step when it was last asked what stands; None: never.
        self._seen: int | None = 0 if parts.is_new else None

    @property
    def transcript(self) -> Path | None:
        """The file of the conversation; None if it is not kept."""
        store = self._parts.store
        return None if store is None else store.layout(self.session.id).transcript

    @property
    def env(self) -> Mapping[str, str]:
        """The environment of what it starts."""
        return self._parts.place.env

    @property
    def model(self) -> str:
        """The model that answers the next prompt."""
        return self._setup.name

    @property
    def mode(self) -> str:
        """The mode of its permissions."""
        return self._parts.guard.state.mode.value

    def use_tools(self, tools: Mapping[str, Tool]) -> None:
        """Have these tools as well from now on, but those that it is not to have."""
        parts = self._parts
        more = {
            name: Bounded(tool, parts.place)
            for name, tool in tools.items()
            if name not in parts.without
        }
        self._setup = self._setup._replace(tools={**self._setup.tools, **more})

    def use_subagents(self, kinds: Sequence[SubagentKind]) -> None:
        """Have the agent call subagents of these kinds from now on; () for none."""
        tools = {name: tool for name, tool in self._setup.tools.items() if name != SUBAGENT}
        self._subagents = None
        if kinds and SUBAGENT not in self._parts.without:
            parts = self._parts
            self._subagents = Subagents(
                kinds,
                self.session,
                parts.conversation,
                parts.place,
                setup=lambda: self._setup,
                new_id=parts.source.new_id,
            )
            tools[SUBAGENT] = Bounded(self._subagents, parts.place)
        self._setup = self._setup._replace(tools=tools)

    def add_subagents(self, kinds: Sequence[SubagentKind]) -> None:
        """Have the agent call subagents of these kinds as well, if it calls any."""
        if self._subagents is not None and kinds:
            known = {**self._subagents.kinds, **{each.name: each for each in kinds}}
            self.use_subagents(tuple(known.values()))

    @property
    def subagents(self) -> Mapping[str, SubagentKind]:
        """The kinds of subagents that it calls, by their names."""
        return {} if self._subagents is None else self._subagents.kinds

    def use_hooks(self, hooks: ConversationHooks) -> None:
        """Have hooks told of calls and of the end of turns from now on."""
        self._hooks = self._parts.guard.hooks = hooks

    def set_mode(self, name: str) -> None:
        """Have other permissions in force from now on. Raises UsageError."""
        self._parts.guard.set_mode(mode_named(name))

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way."""
        return self._is_busy

    @property
    def is_stopping(self) -> bool:
        """Whether the turn that is under way was interrupted."""
        return self._is_busy and self._stop.is_set()

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools, by name."""
        return self._setup.tools

    def context_size(self) -> ContextSize:
        """Return about how many tokens the next request has, before what is said then."""
        setup = self._setup
        limits = setup.model.limits(setup.name)
        return ContextSize(
            system=estimated("".join(setup.system)),
            tools={
                name: estimated(json.dumps(tool.spec._asdict()))
                for name, tool in setup.tools.items()
            },
            messages=setup.measure(setup.conversation.context()),
            window=limits.window,
            summed_up_at=longest(limits),
        )

    def set_model(self, name: str | None) -> None:
        """Have another model answer from the next turn on; None: the one that it began with."""
        self._setup = self._setup._replace(name=name or self._usual)

    def queue(self, content: Content) -> None:
        """Say something while a turn is under way: it is part of the next request."""
        self._queue.append(content)

    def take_waiting(self) -> Sequence[Content]:
        """Return what was said too late to become part of a request: it begins a turn."""
        return self._taken()

    def interrupt(self) -> None:
        """End the turn that is under way, in order."""
        self._stop.set()

    async def say(self, content: Content, turn: str = "") -> AsyncGenerator[Event, None]:
        """Answer a prompt; yield what happens, at last `TurnEnded`. Its step is recorded by then.

        `turn` is the id that the turn should have; no other turn has it. Closing the generator ends
        everything at once; what was stored stays.
        """
        await self._catch_up()
        await self._tell_changes()
        self._stop.clear()
        self._is_busy = True
        turn = turn or self._parts.source.new_id()
        self._parts.conversation.turn_begins(turn, self.mode)
        reported = asyncio.create_task(self._prompted(turn, content))
        if self._parts.stop_hooks is not None:
            self._parts.stop_hooks.turn_begins()
        if self._parts.judge is not None:
            self._parts.judge.turn_begins(reported)
        try:
            async with aclosing(converse(self._setup, content, self._stop)) as events:
                async for event in events:
                    self._follow(event)
                    if not isinstance(event, TurnEnded):
                        yield event
                        continue
                    await reported
                    ended = self._with_subagents(event)
                    await self._ended(turn, ended)
                    yield ended
        finally:
            self._is_busy = False
            reported.cancel()
            with suppress(asyncio.CancelledError):
                await reported

    def _with_subagents(self, event: TurnEnded) -> TurnEnded:
        """Return the end of a turn with what its subagents have used and were denied."""
        if self._subagents is None:
            return event
        work = self._subagents.take_work()
        return event._replace(
            by_model=added(event.by_model, work.by_model),
            denials=(*event.denials, *work.denials),
        )

    def _follow(self, event: Event) -> None:
        if isinstance(event, ToolStarted) and event.use.touches is not None:
            touched = event.use.touches.touches
            self._looked_at += [Path(what) for _, what in touched if what.startswith("/")]
        elif isinstance(event, Compacted) and self._parts.context is not None:
            self._parts.context.forget()

    async def _reminders(self) -> Sequence[str]:
        """Return the instructions of directories that tools looked into, and what hooks say."""
        told = [] if self._hooks is None else self._hooks.take_told()
        looked_at, self._looked_at = self._looked_at, []
        if self._parts.context is None:
            return told
        found = [await self._parts.context.below(path) for path in looked_at]
        return [*told, *(each for each in found if each)]

    async def _objection(self, text: str) -> str:
        """Return what objects to the end of the turn, for the model; "" if nothing does."""
        for hooks in (self._parts.stop_hooks, self._hooks):
            objection = "" if hooks is None else await hooks.object(text)
            if objection:
                return objection
        return ""

    async def _prompted(self, turn: str, content: Content) -> None:
        if self._parts.reports is None:
            return
        if not self._has_begun:
            self._has_begun = True
            await self._parts.reports.begin(is_new=self._parts.is_new)
        await self._parts.reports.prompted(turn, text_of(content))

    async def _ended(self, turn: str, event: TurnEnded) -> None:
        self.used = added(self.used, event.by_model)
        self.session.set(entry_of(self.used, self._parts.source.now()))
        if event.ending in (Ending.MODEL_ERROR, Ending.TOO_LONG) and event.error:
            self.session.failed(event.error)
        await asyncio.to_thread(self.session.flush)
        if self._parts.reports is not None:
            await self._parts.reports.ended(turn, failed=event.ending is Ending.MODEL_ERROR)

    async def _catch_up(self) -> None:
        """Go on after the newest turn that stands: others may have been taken back meanwhile."""
        reports, begins = self._parts.reports, self._parts.is_new and not self._has_begun
        if reports is None or self._parts.store is None or begins:
            return
        found = await reports.standing(self._seen)
        if found is None:
            return
        self._seen = found.step
        if all(stands for _turn, stands in found.turns):
            return
        await asyncio.to_thread(self._rewind, found.turns)

    async def _tell_changes(self) -> None:
        """Tell the model what changed of the files that instruct it, and the day."""
        context = self._parts.context
        if context is None or not self._has_begun:
            return
        text = await context.changed_since()
        if text:
            await self._parts.conversation.user(text, hidden=True)

    def _rewind(self, turns: Sequence[tuple[str, bool]]) -> None:
        assert self._parts.store is not None
        self.session.flush()
        with self._parts.store.whole(self.session.id) as transcript:
            records = list(transcript.records(transcript.tree.heads.values()))
        found = going_on(records, self.session.records, turns)
        if found is not None:
            self.session.rewind(found.after)

    def _taken(self) -> Sequence[Content]:
        taken, self._queue = self._queue, []
        return taken


def text_of(content: Content) -> str:
    """Return the words of a prompt."""
    if isinstance(content, str):
        return content
    return "\n".join(str(each["text"]) for each in content if each.get("type") == "text")
