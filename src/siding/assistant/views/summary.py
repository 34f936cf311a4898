"""Have a conversation summed up, and keep the summary beside its transcript."""

import asyncio
import random

from siding.agents.transcripts.reading.views import Context
from siding.assistant.loop.compaction import summed_up
from siding.assistant.loop.effort import VARIABLE, effort_in_force
from siding.assistant.loop.events import ModelUse
from siding.assistant.loop.model import Again, Failures, ModelError, Request, Usage, next_step
from siding.assistant.models.any_model import AnyModel
from siding.assistant.session import message_of
from siding.assistant.settings import AgentFlags, values_here
from siding.assistant.starting import model_in_force, most_tries, prices_here
from siding.assistant.views.context_use import told_here
from siding.assistant.views.conversation import (
    Looked,
    ToolCall,
    Turn,
    calls_of,
    looked_at,
    steps_of,
    turns_of,
)
from siding.ground.errors import UsageError
from siding.ground.files.durable import make_dirs, replace_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.sessions.shelf import store_of


class Summary(NamedTuple):
    """A summary, where it is kept, and what it took to make it, by model.

    `not_kept` says why it could not be kept, "" if it was.
    """

    session: str
    title: str
    text: str
    path: str
    by_model: dict[str, ModelUse]
    not_kept: str = ""


def summary_of(project: Project, named: str, flags: AgentFlags) -> Summary:
    """Have a conversation summed up; keep the summary in the place of the one before.

    Nothing is written into the conversation. Raises NotFound, UsageError, ModelError.
    """
    looked = looked_at(project, named)
    if not looked.live:
        raise UsageError(
            f"nothing was said in conversation {looked.id[:8]} yet",
            hint="`siding session list` shows all",
        )
    text, by_model = asyncio.run(_asked(project, looked, flags))
    path = store_of(project).layout(looked.id).summary_md
    made = Summary(looked.id, looked.title, text, str(path), by_model)
    try:
        make_dirs(path.parent)
        replace_bytes(path, f"{text}\n".encode())
    except OSError as error:  # it was paid for: whoever asked gets it all the same
        return made._replace(not_kept=error.strerror or str(error))
    return made


async def _asked(
    project: Project, looked: Looked, flags: AgentFlags
) -> tuple[str, dict[str, ModelUse]]:
    values = values_here(project.app, flags)
    app = project.app._replace(env={**project.app.env, **values.env})
    name = model_in_force(app, values).name
    model = AnyModel(app.env, prices=prices_here(app))
    told = await told_here(project, name)
    request = Request(
        model=name,
        system=told.prompt.system,
        messages=[message_of(it) for it in Context(looked.live, looked.replacements).spoken()],
        tools=told.tools,  # providers want to know what the calls of the conversation are
        stable=told.prompt.stable,
        effort=effort_in_force(
            flag=None, variable=app.env.get(VARIABLE), settings=values.effort
        ).effort,
        max_output=model.limits(name).output,
    )
    used: dict[str, ModelUse] = {}

    def count(answered: str, usage: Usage) -> None:
        used[answered] = ModelUse(usage=usage, dollars=model.dollars(name, usage), requests=1)

    failures, most = Failures(), most_tries(app.env)
    try:
        while True:
            try:
                return await summed_up(model, request, count), used
            except ModelError as error:
                failures = failures.with_error(error)
                step = next_step(error, failures, fallback=None, most=most, spread=random.random())
                if not isinstance(step, Again):
                    raise
                request = request._replace(is_streamed=step.is_streamed)
                await asyncio.sleep(step.after_s)
    finally:
        await model.aclose()


# -- What was done in a conversation, turn by turn, from its record. No model is asked -------------


class RecapTurn(NamedTuple):
    """A turn with its steps, the commands that it ran, and what failed in it."""

    turn: Turn
    steps: tuple[Step, ...]
    commands: tuple[str, ...]
    failed: tuple[ToolCall, ...]
    calls: int


class Recap(NamedTuple):
    """A conversation, told again."""

    session: str
    title: str
    turns: tuple[RecapTurn, ...]


def recap_of(project: Project, named: str) -> Recap:
    """Return what was done in a conversation. Raises NotFound."""
    found = looked_at(project, named)
    calls = calls_of(found.history)
    steps = steps_of(project, found.id)
    turns = [_turn(turn, calls, steps) for turn in turns_of(found.history)]
    return Recap(found.id, found.title, tuple(turns))


def _turn(turn: Turn, calls: list[ToolCall], steps: list[Step]) -> RecapTurn:
    own = [call for call in calls if call.turn == turn.number]
    given = [text(mapping(call.given).get("command")) for call in own]
    return RecapTurn(
        turn=turn,
        steps=tuple(step for step in steps if turn.id and _turn_id(step) == turn.id),
        commands=tuple(command for command in given if command),
        failed=tuple(call for call in own if call.is_error or not call.has_result),
        calls=len(own),
    )


def _turn_id(step: Step) -> str:
    found = step.as_checkpoint
    return "" if found is None else found.turn
