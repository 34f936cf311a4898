"""Start the built-in agent as the command of a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.agents.own.hooks import PROGRAM, TRIES_VARIABLE, program_for
from siding.agents.own.providers import PROVIDERS
from siding.assistant.loop.settings import AgentValues, SettingsLevel
from siding.assistant.settings import NO_FLAGS, values_here
from siding.ground.errors import SidingError, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import step_marks
from siding.record.place.wiring import App
from siding.sessions.lookup import kept_here
from siding.usage.prices import Prices, own_prices

MODEL_VARIABLE = "SIDING_AGENT_MODEL"
_USUAL_TRIES = 10  # takes minutes
_MOST_TRIES = 100
_BEFORE_THE_VARIABLE = frozenset({SettingsLevel.MANAGED, SettingsLevel.FLAGS})


class NoProgram(SidingError):
    """Siding is installed without the program that runs as the agent."""

    code = "no_program"


def is_inside(app: App) -> bool:
    """Return whether this process belongs to a run: then it is the agent, and starts none."""
    return bool(step_marks(app.env))


def command_of(app: App, words: Sequence[str]) -> tuple[str, ...]:
    """Return the command line of a run that is the agent. Raises NoProgram."""
    program = program_for(app.env)
    if program:
        return (program, *words)
    raise NoProgram(
        f"there is no program {PROGRAM!r}, which comes with Siding",
        hint="install Siding again, as you did the first time",
    )


def bring_conversation(app: App, named: str) -> Path | None:
    """Have the conversation with this id or title here; return the file it was imported from.

    It may be one that another agent has held, or has gone on with since. Raises NotFound,
    UsageError.
    """
    return kept_here(app, named).imported


class ModelChoice(NamedTuple):
    """The model in force, and what says so: a file, the command line, or a variable."""

    name: str
    by: str


def model_in_force(app: App, values: AgentValues) -> ModelChoice:
    """Return the model of a conversation. Raises UsageError.

    The machine's settings and the command line go before the variable, which goes before other
    settings; a key of a provider alone names its usual model.
    """
    origin = values.origins.get("model")
    named = app.env.get(MODEL_VARIABLE)
    if values.model and origin and (not named or origin.level in _BEFORE_THE_VARIABLE):
        return ModelChoice(values.model, origin.source)
    if named:
        return ModelChoice(named, MODEL_VARIABLE)
    for row in PROVIDERS.values():
        for variable in row.variables if row.usual else ():
            if app.env.get(variable):
                return ModelChoice(f"{row.prefix}:{row.usual}", variable)
    raise UsageError(
        "no model is named, and no key of a provider is set",
        hint="set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; or --model local:NAME "
        "for a server of your own",
    )


def model_or_none(app: App) -> str:
    """Return the model of a conversation without options; "" if nothing names one."""
    try:
        return model_in_force(app, values_here(app, NO_FLAGS)).name
    except UsageError:
        return ""


def most_tries(env: Mapping[str, str]) -> int:
    """Return how often a request is made when the model's server fails. Raises UsageError."""
    text = env.get(TRIES_VARIABLE, "")
    if not text:
        return _USUAL_TRIES
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _MOST_TRIES:
        raise UsageError(f"{TRIES_VARIABLE} is {text!r}, and should be from 1 to {_MOST_TRIES}")
    return int(text)


def prices_here(app: App) -> Prices:
    """Return the prices of models, with those of the person's own."""
    try:
        return Prices(own_prices(app.home.root))
    except (SidingError, OSError):  # a sandbox hides them
        return Prices({})
