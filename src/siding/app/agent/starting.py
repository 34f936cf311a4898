"""Start the built-in agent as the command of a run."""

from collections.abc import Mapping, Sequence

from siding.adapters.agents.siding_agent import PROGRAM, program_for
from siding.app.agent.settling import project_or_none
from siding.app.place.wiring import App
from siding.app.sessions.shelf import store_of
from siding.errors import SidingError, UsageError
from siding.process.command import TOKEN_VARIABLE

# Model of an agent that is given none, by the variable that has the key of its provider.
_USUAL = (
    ("ANTHROPIC_API_KEY", "anthropic:claude-sonnet-5-5"),
    ("ANTHROPIC_AUTH_TOKEN", "anthropic:claude-sonnet-5-5"),
    ("OPENAI_API_KEY", "openai:gpt-5.6"),
    ("GEMINI_API_KEY", "google:gemini-3.1-pro-preview"),
    ("GOOGLE_API_KEY", "google:gemini-3.1-pro-preview"),
)
MODEL_VARIABLE = "SIDING_AGENT_MODEL"


class NoProgram(SidingError):
    """Siding is installed without the program that runs as the agent."""

    code = "no_program"


def usual_model(env: Mapping[str, str]) -> str:
    """Return the model of an agent that is given none; "" if nothing tells which."""
    named = env.get(MODEL_VARIABLE)
    return named or next((model for variable, model in _USUAL if env.get(variable)), "")


def is_inside(app: App) -> bool:
    """Return whether this process belongs to a run: then it is the agent, and starts none."""
    return bool(app.env.get(TOKEN_VARIABLE))


def command_of(app: App, words: Sequence[str]) -> tuple[str, ...]:
    """Return the command line of a run that is the agent. Raises NoProgram."""
    program = program_for(app.env)
    if program:
        return (program, *words)
    raise NoProgram(
        f"there is no program {PROGRAM!r}, which comes with Siding",
        hint="install Siding again: pip install --force-reinstall 'siding[agent]'",
    )


def require_conversation(app: App, named: str) -> None:
    """Raise NotFound if no conversation has this id or title; "" names none."""
    project = project_or_none(app)
    if named and project is not None:
        store_of(project).require(named)


def require_model(app: App, named: str) -> str:
    """Return the model of an agent that is given this one, or "" for none. Raises UsageError."""
    found = named or usual_model(app.env)
    if not found:
        raise UsageError(
            "no model is named, and no key of a provider is set",
            hint="set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; or --model local:NAME "
            "for a server of your own",
        )
    return found
