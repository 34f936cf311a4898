"""Put the built-in agent together: its conversation, model, tools and guard."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from siding import __version__
from siding.adapters.models.any_model import AnyModel
from siding.adapters.prices import Prices, own_prices
from siding.adapters.web_client import WebClient
from siding.agent.setup import Setup
from siding.app.agent.agent import Agent, Parts
from siding.app.agent.briefing import Facts, briefing
from siding.app.agent.following_context import FollowingContext
from siding.app.agent.guarding import RunGuard
from siding.app.agent.inside import Surroundings, surroundings
from siding.app.agent.opening import Opened, cut_off, opened
from siding.app.agent.options import Options
from siding.app.agent.remembering import SessionConversation
from siding.app.agent.reporting import Reports
from siding.app.agent.starting import require_model
from siding.app.agent.system_prompt import SystemPrompt, system_prompt
from siding.app.place.wiring import App
from siding.app.sessions.sessions import new_session_id
from siding.errors import SidingError, UsageError
from siding.sessions.kinds import Record
from siding.sessions.session import Source
from siding.sessions.writing.writer import Stamp
from siding.storage.locks import Holder
from siding.tools.checking import checked
from siding.tools.factory import Memory, tools_of
from siding.tools.place import Place
from siding.tools.port import Tool


@asynccontextmanager
async def opened_agent(
    app: App, options: Options, *, say: Callable[[str], None]
) -> AsyncIterator[Agent]:
    """Yield the agent with its conversation; end what it has started.

    `say` shows the person a sentence. Raises SidingError and OSError.
    """
    here = surroundings(app)
    model = AnyModel(app.env, prices=_prices(app))
    name = require_model(app, options.model)
    model.warm(name)
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
        place = _place(here, options, found, say)
        memory = Memory.of(place)
        try:
            tools = _chosen(tools_of(place, memory), options)
            cut_off(session, lambda name, given: _is_safe(tools.get(name), given))
            reports = _reports(here, found, say)
            guard = RunGuard(reports, here.workspace, is_planning=options.is_planning)
            parts = Parts(
                session,
                SessionConversation(session),
                here.workspace,
                source,
                guard,
                is_new=found.is_new,
                store=None if found.transcript is None else here.store,
                reports=reports,
            )
            asked = options._replace(model=name)
            told = await briefing(Facts(place, model=name, directory=here.directory))
            prompt = system_prompt(told, base=options.system, more=options.more_system)
            parts = parts._replace(context=FollowingContext(told))
            yield Agent(_setup(asked, parts, model, tools, prompt), parts)
        finally:
            await memory.close()
            await model.aclose()


def _setup(
    options: Options,
    parts: Parts,
    model: AnyModel,
    tools: Mapping[str, Tool],
    prompt: SystemPrompt,
) -> Setup:
    return Setup(
        conversation=parts.conversation,
        model=model,
        guard=parts.guard,
        tools=tools,
        name=options.model,
        system=prompt.system,
        stable=prompt.stable,
        monotonic=time.monotonic,
        sleep=asyncio.sleep,
        spread=random.random,
        fallback=options.fallback or None,
        effort=options.effort,
        thinking=options.thinking,
        cache=options.cache,
        most_requests=options.most_requests,
        most_dollars=options.most_dollars,
        most_tokens=options.most_tokens,
        schema=options.schema,
    )


def _place(
    here: Surroundings, options: Options, found: Opened, say: Callable[[str], None]
) -> Place:
    results = here.temporary / f"siding-agent-{found.session.id}"
    if found.transcript is not None:
        results = found.transcript.with_suffix("") / "tool-results"
    return Place(
        workspace=here.workspace,
        results=results,
        home=here.home,
        env=here.env,
        extra=options.extra,
        note=say,
        broker=here.broker,
        http=WebClient(here.env),
        judging=here.judging,
    )


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
    unknown = {*(options.tools or ()), *options.without} - {*tools, *_OF_OTHERS}
    if unknown:
        raise UsageError(f"there is no tool {min(unknown)!r}", hint=f"there are {', '.join(tools)}")
    names = options.tools
    return {
        name: tool
        for name, tool in tools.items()
        if name not in options.without and (names is None or name in names)
    }


# Tools of Claude Code that there are not here: programs that drive it name them.
_OF_OTHERS = frozenset(
    """
    Agent EnterPlanMode ExitPlanMode LSP Skill Task TaskCreate TaskUpdate ToolSearch WebSearch
    """.split()
)


def _prices(app: App) -> Prices:
    try:
        return Prices(own_prices(app.home.root))
    except (SidingError, OSError):  # a sandbox hides them
        return Prices({})
