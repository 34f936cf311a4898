"""``siding agent`` within its run: it reads, answers and prints until it is done."""

import asyncio
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Coroutine
from typing import Any

from siding import __version__
from siding.app.agent.agent import Agent
from siding.app.agent.making import opened_agent
from siding.app.sessions.sessions import new_session_id
from siding.cli.agent.flags import WITHOUT_EFFECT, options_of
from siding.cli.agent.lines import Lines
from siding.cli.agent.printing import answered, print_lines
from siding.cli.agent.results import failed
from siding.cli.agent.stream_json import Facts, Translator
from siding.cli.agent.streaming import Streaming
from siding.cli.agent.typed import TypedLines
from siding.cli.globals import Context
from siding.errors import SidingError, UsageError

_ENDED = 143  # the exit status after SIGTERM


def serve(arguments: Namespace, context: Context) -> int:
    """Hold the conversation that a command line asks for; return the exit status."""
    prompt = _prompt(arguments)
    options = options_of(arguments, context.app.cwd)
    _say_without_effect(arguments, context)

    async def run() -> int:
        try:
            async with opened_agent(context.app, options, say=context.screen.note) as agent:
                return await _interruptible(agent, lambda: _held(agent, prompt, arguments, context))
        except (SidingError, OSError) as error:
            if arguments.output_format == "stream-json":  # who reads it waits for an end
                print_lines([failed(str(error), new_session_id(context.app))])
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
        raise UsageError(
            "there is no prompt", hint="siding agent -p 'fix the parser', or pipe one in"
        )
    return typed


async def _held(agent: Agent, prompt: str, arguments: Namespace, context: Context) -> int:
    def new_id() -> str:
        return new_session_id(context.app)

    translator = Translator(
        Facts(
            session=agent.session.id,
            cwd=str(agent.workspace),
            model=agent.model,
            mode=agent.mode,
            tools=tuple(agent.tools),
            version=__version__,
        ),
        new_id,
        has_partial=arguments.include_partial_messages,
        used=agent.used,
    )
    if arguments.input_format == "stream-json":
        repeats = arguments.replay_user_messages
        typed = TypedLines()
        return await Streaming(agent, translator, typed, new_id=new_id, repeats=repeats).serve()
    if arguments.print or arguments.output_format != "text":
        return await answered(agent, prompt, translator, context.screen, arguments.output_format)
    return await Lines(agent, TypedLines(), context.screen).serve(prompt)


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
    quiet = ("--debug-to-stderr", "--replay-user-messages", "--permission-prompt-tool")
    given = [
        name
        for name in WITHOUT_EFFECT
        if name not in quiet and getattr(arguments, name.strip("-").replace("-", "_"))
    ]
    if given:
        context.screen.note(f"without effect here: {', '.join(given)}")
