"""``siding agent`` within its run: it reads, answers and prints until it is done."""

import asyncio
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any

from siding import __version__
from siding.assistant.agent import Agent
from siding.assistant.assembly import opened_agent
from siding.assistant.front_end import People
from siding.assistant.servers import Link, Servers
from siding.faces.cli.assistant.client import (
    ASKED_BY_CLIENT,
    AskedPermissions,
    AskedQuestions,
    Client,
    ClientLink,
)
from siding.faces.cli.assistant.flags import WITHOUT_EFFECT, no_prompt
from siding.faces.cli.assistant.options import options_of, servers_of, subagents_of
from siding.faces.cli.assistant.printing import answered, print_lines
from siding.faces.cli.assistant.stream_json import Facts, Translator, failed
from siding.faces.cli.assistant.streaming import Streaming
from siding.faces.cli.assistant.terminal import (
    Lines,
    Output,
    TerminalPermissions,
    TerminalQuestions,
    TypedLines,
)
from siding.faces.cli.globals import Context
from siding.ground.errors import SidingError, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.sessions.sessions import new_session_id

_ENDED = 143  # the exit status after SIGTERM


def serve(arguments: Namespace, context: Context) -> int:
    """Hold the conversation that a command line asks for; return the exit status."""
    prompt = _prompt(arguments)
    options = options_of(arguments, context.app.cwd)
    given = servers_of(arguments, context.app.cwd)
    kinds = subagents_of(arguments, context.app.cwd)
    _say_without_effect(arguments, context)

    async def run() -> int:
        front = _front(arguments, context)
        app, say = context.app, context.screen.note
        try:
            async with (
                opened_agent(app, options, front.people, say=say) as agent,
                aclosing(
                    Servers(agent, given, app.env, of_client=front.of_client, tell=say)
                ) as servers,
            ):
                agent.add_subagents(kinds)
                return await _interruptible(agent, lambda: front.hold(agent, prompt, servers))
        except (SidingError, OSError) as error:
            if arguments.output_format == "stream-json":  # who reads it waits for an end
                print_lines([failed(str(error), new_session_id(app))])
            raise

    return asyncio.run(run())


def _prompt(arguments: Namespace) -> str:
    """Return the prompt: what was typed, and what is piped in. Raises UsageError."""
    typed = " ".join(arguments.prompt)
    if arguments.input_format == "stream-json":
        if typed:
            raise UsageError("with --input-format stream-json the prompts come as messages")
        if arguments.output_format != "stream-json":
            raise UsageError("--input-format stream-json needs --output-format stream-json")
        return ""
    if not sys.stdin.isatty() and arguments.print:
        piped = sys.stdin.read().strip()
        typed = f"{typed}\n\n{piped}".strip() if piped else typed
    if arguments.print and not typed.strip():
        raise no_prompt(arguments)
    return typed


class _Front(NamedTuple):
    """How a conversation is held: who can be asked in it, and what a prompt begins."""

    people: People
    hold: Callable[[Agent, str, Servers], Coroutine[Any, Any, int]]
    of_client: Callable[[str], Link] | None = None


def _front(arguments: Namespace, context: Context) -> _Front:
    if arguments.input_format == "stream-json":
        return _streaming(arguments, context)
    if arguments.print or arguments.output_format != "text":
        return _printing(arguments, context)
    return _lines(context)


def _streaming(arguments: Namespace, context: Context) -> _Front:
    client = Client(lambda: new_session_id(context.app))
    is_asked = arguments.permission_prompt_tool == ASKED_BY_CLIENT
    people = People(AskedPermissions(client), AskedQuestions(client)) if is_asked else People()

    async def hold(agent: Agent, _prompt: str, servers: Servers) -> int:
        translator = _translator(agent, servers, arguments, context)
        streaming = Streaming(
            agent,
            translator,
            TypedLines(),
            client,
            servers,
            new_id=lambda: new_session_id(context.app),
            repeats=arguments.replay_user_messages,
        )
        return await streaming.serve()

    return _Front(people, hold, lambda name: ClientLink(client, name))


def _printing(arguments: Namespace, context: Context) -> _Front:
    async def hold(agent: Agent, prompt: str, servers: Servers) -> int:
        await servers.connect()
        translator = _translator(agent, servers, arguments, context)
        return await answered(agent, prompt, translator, context.screen, arguments.output_format)

    return _Front(People(), hold)


def _lines(context: Context) -> _Front:
    typed, output = TypedLines(), Output(context.screen)
    people = People(TerminalPermissions(typed, output), TerminalQuestions(typed, output))

    async def hold(agent: Agent, prompt: str, servers: Servers) -> int:
        await servers.connect()
        return await Lines(agent, typed, output, context.screen).serve(prompt)

    return _Front(people, hold)


def _translator(
    agent: Agent, servers: Servers, arguments: Namespace, context: Context
) -> Translator:
    facts = Facts(
        session=agent.session.id,
        cwd=str(agent.workspace),
        model=agent.model,
        mode=agent.mode,
        tools=tuple(agent.tools),
        servers=servers.states,
        agents=tuple(agent.subagents),
        commands=("compact",),
        version=__version__,
    )
    return Translator(
        facts,
        lambda: new_session_id(context.app),
        has_partial=arguments.include_partial_messages,
        used=agent.used,
    )


async def _interruptible(agent: Agent, act: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Let Ctrl-C end the turn, a second one within it everything, and SIGTERM everything."""
    task = asyncio.ensure_future(act())
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        if agent.is_stopping or not agent.is_busy:
            task.cancel()
        else:
            agent.interrupt()

    loop.add_signal_handler(signal.SIGINT, interrupt)
    ended: list[int] = []

    def end() -> None:
        ended.append(_ENDED)
        task.cancel()

    loop.add_signal_handler(signal.SIGTERM, end)
    try:
        return await task
    except asyncio.CancelledError:
        return ended[0] if ended else 130


def _say_without_effect(arguments: Namespace, context: Context) -> None:
    quiet = ("--debug-to-stderr", "--replay-user-messages")
    given = [
        name
        for name in WITHOUT_EFFECT
        if name not in quiet and getattr(arguments, name.strip("-").replace("-", "_"))
    ]
    if given:
        context.screen.note(f"without effect here: {', '.join(given)}")
