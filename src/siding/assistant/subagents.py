"""Subagents of the built-in agent: each works in a conversation of its own, beside the session.

A subagent works in the same workspace, with the same model and permissions; what it uses counts
with the turn that has called it. It lasts as long as the call.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from siding.agents.own.places import SUBAGENTS
from siding.agents.transcripts.session import Session
from siding.assistant.loop.compaction import measuring
from siding.assistant.loop.events import Answered, Denial, Ending, ModelUse, TurnEnded
from siding.assistant.loop.loop import converse
from siding.assistant.loop.setup import Setup, no_objection, nothing_queued, nothing_to_tell
from siding.assistant.session import SessionConversation, added
from siding.assistant.tools.factory import Memory, tools_of
from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Call, Result, ToolSpec, Use
from siding.assistant.tools.spec import failed, spec_of
from siding.assistant.tools.spec import text as field
from siding.ground.errors import NotARegularFile, UsageError
from siding.ground.files.regular import read_below
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text

NAME = "Agent"
_NOT_FOR_THEM = frozenset({NAME, "AskUserQuestion"})
_OF_SERVERS = "mcp__"
_AS_THE_AGENT = frozenset({"", "inherit", "haiku", "sonnet", "opus"})  # names of one provider alone


class SubagentKind(NamedTuple):
    """What a subagent is good for. Without a `prompt` it is told what the agent is told.

    `tools` are the names of those that it has, None for all; `model` is "" for the agent's own.
    """

    name: str
    description: str
    prompt: str = ""
    tools: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    model: str = ""


GENERAL = SubagentKind("general-purpose", "searches, inquiries, and work of several steps")


def kinds_in(document: object) -> tuple[SubagentKind, ...]:
    """Return the kinds that a client or `--agents` defines, by name. Raises UsageError."""
    if not isinstance(document, dict):
        raise UsageError(
            "agents are an object: a name, and what it is, of each",
            hint='{"reviewer": {"description": "finds mistakes", "prompt": "You review."}}',
        )
    return tuple(_kind(str(name), mapping(given)) for name, given in document.items())


def _kind(name: str, given: Mapping[str, Any]) -> SubagentKind:
    description, tools = text(given.get("description")), given.get("tools")
    if not description:
        raise UsageError(f"agent {name!r} needs a description: by it the model chooses")
    model = text(given.get("model"))
    return SubagentKind(
        name,
        description,
        prompt=text(given.get("prompt")),
        tools=None if tools is None else _names(tools),
        without=_names(given.get("disallowedTools")),
        model="" if model in _AS_THE_AGENT else model,
    )


def _names(given: object) -> tuple[str, ...]:
    """Return names of tools: a list, or as files of agents have them, a text with commas."""
    listed = given.split(",") if isinstance(given, str) else given
    return tuple(str(each).strip() for each in listed) if isinstance(listed, list) else ()


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
        return Result(said, shown=f"{kind.name}: {tokens:,} tokens", details=details)
    why = f"{ended.ending.value}: {ended.error}" if ended.error else ended.ending.value
    last = f" Its last words: {ended.text}" if ended.text else ""
    return Result(
        f"The subagent was not done ({why}).{last}",
        is_error=True,
        shown=f"{kind.name}: {ended.ending.value}",
        details=details,
    )


# -- Kinds of subagents that files define ----------------------------------------------------------
#
# They are in the directory `SUBAGENTS` of a workspace, and in that of the person's home. Each file,
# ``NAME.md``, begins with YAML between two lines of ``---`` (``name``, ``description``, perhaps
# ``tools``, ``disallowedTools``, ``model``); the rest is the prompt. Those of the repository count
# like its other instructions: they say what a subagent is told, and permit nothing.


DIRECTORY = Path(SUBAGENTS)
_LARGEST = 64 << 10  # bytes of a file
_MOST = 100  # files of a directory


def kinds_of_files(
    home: Path, workspace: Path, say: Callable[[str], None]
) -> tuple[SubagentKind, ...]:
    """Return the kinds of the person and of the workspace; of one name, that of the workspace.

    `say` is told of each file that defines none.
    """
    found: dict[str, SubagentKind] = {}
    for root in dict.fromkeys((home, workspace)):
        for kind in _kinds_below(root, say):
            found[kind.name] = kind
    return tuple(found.values())


def _kinds_below(root: Path, say: Callable[[str], None]) -> Iterator[SubagentKind]:
    try:
        names = sorted(os.listdir(root / DIRECTORY))
    except OSError:
        return
    for name in [each for each in names if each.endswith(".md")][:_MOST]:
        try:
            yield _kind_in(root, DIRECTORY / name)
        except (UsageError, OSError, NotARegularFile, ValueError) as error:
            why = error.message if isinstance(error, UsageError) else str(error)
            say(f"{root / DIRECTORY / name} defines no subagent: {' '.join(why.split())}")


def _kind_in(root: Path, path: Path) -> SubagentKind:
    data, status = read_below(root, path, _LARGEST)
    if status.st_size > _LARGEST:
        raise UsageError(f"it is larger than {_LARGEST:,} bytes")
    head, prompt = _parts(data.decode("utf-8-sig").replace("\r\n", "\n"))
    name = str(head.get("name") or path.stem)
    (kind,) = kinds_in({name: {**head, "prompt": prompt}})
    return kind


def _parts(text: str) -> tuple[dict[str, Any], str]:
    """Return what is said at the head of a file, and what follows it."""
    import yaml  # 20 ms, and most people have no such file

    begin, _, rest = text.partition("\n")
    said, end, prompt = f"\n{rest}".partition("\n---")
    if begin.rstrip() != "---" or not end:
        raise UsageError("it does not begin with `---`, a name, a description, and `---`")
    try:
        head = yaml.load(said, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise UsageError(f"its head is not valid YAML: {error}") from None
    if not isinstance(head, dict):
        raise UsageError("its head has no name and no description")
    return head, prompt.partition("\n")[2].strip()
