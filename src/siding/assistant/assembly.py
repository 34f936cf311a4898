"""Put the built-in agent together: its conversation, model, tools and guard.

Before that its process finds out where it is: its run, workspace and conversations.
"""

import asyncio
import os
import random
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from siding import __version__
from siding.agents.own.hooks import OF_THE_AGENT, Told, told_in
from siding.agents.own.providers import credentials, without
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.session import Source
from siding.agents.transcripts.store import SessionStore
from siding.agents.transcripts.writer import Stamp
from siding.assistant.agent import Agent, Parts
from siding.assistant.briefing import Facts, FollowingContext, SystemPrompt, briefing, system_prompt
from siding.assistant.broker import Reports, RunBroker, RunJudge, judge_of
from siding.assistant.front_end import NOBODY, People
from siding.assistant.hooks import StopHooks
from siding.assistant.loop.compaction import measuring
from siding.assistant.loop.effort import VARIABLE as EFFORT_VARIABLE
from siding.assistant.loop.effort import effort_in_force
from siding.assistant.loop.settings import AgentValues
from siding.assistant.loop.setup import Setup
from siding.assistant.models.any_model import AnyModel
from siding.assistant.opening import Opened, Options, cut_off, opened
from siding.assistant.permissions import (
    Ground,
    hidden_from_search,
    mode_of_conversation,
    permission_guard,
)
from siding.assistant.session import SessionConversation
from siding.assistant.settings import project_or_none, values_here
from siding.assistant.starting import model_in_force, most_tries, prices_here
from siding.assistant.subagent_kinds import GENERAL, kinds_of_files
from siding.assistant.subagents import NAME as SUBAGENT
from siding.assistant.tools.factory import Memory, tools_of
from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Tool
from siding.assistant.tools.spec import checked
from siding.assistant.web_client import WebClient
from siding.ground.errors import SidingError, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker.place import SOCKET_VARIABLE
from siding.ground.process.command import with_marks_alone
from siding.ground.process.secluded import seclude
from siding.ground.storage.locks import Holder
from siding.guard.in_force import PolicyGround, place_for
from siding.record.place.project import find_project
from siding.record.place.settings import Settings
from siding.record.place.wiring import App, home_is_hidden
from siding.sessions.sessions import new_session_id
from siding.sessions.shelf import store_of
from siding.shellguard.face import JudgingPlace, Policy

_SERVERS = "mcp__"  # tools of servers begin so: they come when the servers are connected
# Tools of Claude Code that there are not here: programs that drive it name them.
_OF_OTHERS = frozenset(
    """
    EnterPlanMode ExitPlanMode LSP Skill Task TaskCreate TaskUpdate ToolSearch WebSearch
    """.split()
)


# -- Where the process finds itself ----------------------------------------------------------------


class Surroundings(NamedTuple):
    """What the agent finds. `told` and `broker` are None outside of a run of its own.

    `env` is the environment of its commands. `store` is None where Siding's home is hidden.
    """

    workspace: Path
    directory: Path  # in which the agent was started
    home: Path
    temporary: Path
    env: Mapping[str, str]
    store: SessionStore | None
    judging: JudgingPlace
    told: Told | None
    broker: RunBroker | None


def surroundings(app: App, models: Sequence[str], passed: Collection[str]) -> Surroundings:
    """Look around. `models` are those of the conversation.

    Commands get the environment without what models are reached with, but for the names `passed`,
    and without the token of the step: a mark says which step they belong to.
    """
    told = told_in(app.env)
    workspace = Path(os.path.realpath(app.env.get("SIDING_WORKSPACE") or app.cwd))
    socket = app.env.get(SOCKET_VARIABLE, "")
    home = Path(os.path.realpath(app.env.get("HOME") or os.path.expanduser("~")))
    ground = PolicyGround(app=app, root=None, settings=Settings(), trust_json=None, cache=None)
    env = {name: value for name, value in app.env.items() if name not in OF_THE_AGENT}
    return Surroundings(
        workspace=workspace,
        directory=_within(workspace, app.cwd),
        home=home,
        temporary=Path(tempfile.gettempdir()),
        env=with_marks_alone(without(env, models, passed)),
        store=_store(app, told),
        judging=place_for(ground, cwd=workspace, workspace=workspace, policy=Policy()),
        told=told,
        broker=RunBroker(socket) if socket else None,
    )


def keep_to_itself(app: App, models: Sequence[str]) -> None:
    """Hide from other processes what only this one is to have: keys, and the step's token."""
    seclude({*credentials(app.env, models), *OF_THE_AGENT})


def _within(workspace: Path, cwd: Path) -> Path:
    real = Path(os.path.realpath(cwd))
    return real if real.is_relative_to(workspace) else workspace


def _store(app: App, told: Told | None) -> SessionStore | None:
    if told is not None and told.sessions:
        root = Path(told.sessions)
        return SessionStore(root) if _can_write(root) else None
    try:
        project = find_project(app)
    except SidingError:
        return None
    return None if project is None else store_of(project)


def _can_write(directory: Path) -> bool:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK)


# -- Put it together -------------------------------------------------------------------------------


class _Wanted(NamedTuple):
    """What a conversation is to be. `say` shows the person a sentence."""

    app: App
    options: Options
    values: AgentValues
    name: str  # of the model
    people: People
    say: Callable[[str], None]


@asynccontextmanager
async def opened_agent(
    app: App, options: Options, people: People = NOBODY, *, say: Callable[[str], None]
) -> AsyncIterator[Agent]:
    """Yield the agent with its conversation; end what it has started.

    `people` can be asked; `say` shows a sentence. Raises SidingError and OSError.
    """
    values = values_here(app, options.flags)
    app = app._replace(env={**app.env, **values.env})
    wanted = _Wanted(app, options, values, model_in_force(app, values).name, people, say)
    model = AnyModel(app.env, prices=prices_here(app))
    model.warm(wanted.name)
    models = [each for each in (wanted.name, values.fallback_model) if each]
    keep_to_itself(app, models)
    here = surroundings(app, models, values.pass_env)
    source = Source(new_id=lambda: new_session_id(app), now=app.now)
    found = opened(
        here.store,
        options.which,
        workspace=here.workspace,
        source=source,
        stamp=Stamp(cwd=str(here.workspace), version=__version__),
        holder=Holder(pid=app.pid, since=app.now(), what="siding agent"),
    )
    if found.transcript is None and options.which.persists:
        say("the conversation is not kept: Siding's home cannot be seen here")
    with found.session as session:
        async with _parts(wanted, here, found, source) as (parts, tools, place):
            cut_off(session, lambda name, given: _is_safe(tools.get(name), given))
            told = await briefing(Facts(place, model=wanted.name, directory=here.directory))
            prompt = system_prompt(told, base=options.system, more=options.more_system)
            setup = _setup(wanted, parts, model, tools, prompt)
            agent = Agent(setup, parts._replace(context=FollowingContext(told)))
            names = options.tools
            if names is None or SUBAGENT in names:
                kinds = kinds_of_files(here.home, here.workspace, say)
                agent.use_subagents((GENERAL,))
                agent.add_subagents(kinds)
            try:
                yield agent
            finally:
                await model.aclose()


@asynccontextmanager
async def _parts(
    wanted: _Wanted, here: Surroundings, found: Opened, source: Source
) -> AsyncIterator[tuple[Parts, dict[str, Tool], Place]]:
    """Yield what the conversation stands on, and its tools; at the end no command of them runs."""
    app, values = wanted.app, wanted.values
    roots = tuple(_resolved(each, here.home) for each in values.directories)
    results = here.temporary / f"siding-agent-{found.session.id}"
    if found.transcript is not None:
        results = found.transcript.with_suffix("") / "tool-results"
    ground = Ground(here.judging, here.env, roots=roots, readable=(results,))
    reports = _reports(here, found, wanted.say)
    judge = judge_of(here.broker, reports)
    guard = permission_guard(
        values,
        ground,
        wanted.people,
        judge,
        project_or_none(app),
        mode_of_conversation(found.session.records),
        is_sandboxed=home_is_hidden(app),
        tell=wanted.say,
    )
    place = Place(
        workspace=here.workspace,
        results=results,
        home=here.home,
        env=here.env,
        extra=roots,
        note=wanted.say,
        asker=wanted.people.questions,
        broker=here.broker,
        http=WebClient(here.env),
        judging=here.judging,
        is_denied=hidden_from_search(guard, ground),
    )
    memory = Memory.of(place)
    ground.cwd = lambda: memory.shells.cwd
    parts = Parts(
        found.session,
        SessionConversation(found.session),
        here.workspace,
        source,
        guard,
        place,
        without=wanted.options.without,
        is_new=found.is_new,
        store=None if found.transcript is None else here.store,
        reports=reports,
        judge=judge if isinstance(judge, RunJudge) else None,
        stop_hooks=StopHooks(values.stop_hooks, here.workspace, here.env, wanted.say),
    )
    try:
        yield parts, _chosen(tools_of(place, memory), wanted.options), place
    finally:
        await memory.close()


def _setup(
    wanted: _Wanted,
    parts: Parts,
    model: AnyModel,
    tools: Mapping[str, Tool],
    prompt: SystemPrompt,
) -> Setup:
    options, values = wanted.options, wanted.values
    effort = effort_in_force(
        flag=options.effort,
        variable=wanted.app.env.get(EFFORT_VARIABLE),
        settings=values.effort,
    )
    return Setup(
        conversation=parts.conversation,
        model=model,
        guard=parts.guard,
        tools=tools,
        name=wanted.name,
        system=prompt.system,
        stable=prompt.stable,
        monotonic=time.monotonic,
        sleep=asyncio.sleep,
        spread=random.random,
        fallback=values.fallback_model,
        effort=effort.effort,
        thinking=options.thinking,
        cache=options.cache,
        most_requests=values.max_turns,
        most_dollars=values.max_dollars,
        most_tokens=values.max_tokens,
        schema=options.schema,
        most_tries=most_tries(wanted.app.env),
        measure=measuring(),
    )


def _resolved(directory: str, home: Path) -> Path:
    named = home / directory[2:] if directory.startswith("~/") else Path(directory)
    return Path(os.path.realpath(named))


def _reports(here: Surroundings, found: Opened, say: Callable[[str], None]) -> Reports | None:
    if here.broker is None or here.told is None:
        return None
    reports = Reports(here.broker, here.told, say)
    reports.session = found.session.id
    reports.transcript = "" if found.transcript is None else str(found.transcript)
    return reports


def _is_safe(tool: Tool | None, given: Record) -> bool:
    return tool is not None and checked(tool.spec, given) is None and tool.is_safe(given)


def _chosen(tools: Mapping[str, Tool], options: Options) -> dict[str, Tool]:
    unknown = {*(options.tools or ()), *options.without} - {*tools, SUBAGENT, *_OF_OTHERS}
    unknown = {each for each in unknown if not each.startswith(_SERVERS)}
    if unknown:
        raise UsageError(f"there is no tool {min(unknown)!r}", hint=f"there are {', '.join(tools)}")
    names = options.tools
    return {
        name: tool
        for name, tool in tools.items()
        if name not in options.without and (names is None or name in names)
    }
