"""Gemini CLI: a prompt once more. Tried with 0.61."""

from siding.agents.again import Flags, PromptAgain, options

_FLAGS = Flags(
    frozenset({"--"}),
    frozenset({"-p", "--prompt", "-i", "--prompt-interactive", "-r", "--resume", "--session-id"}),
)


def again(asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line that gives it a prompt once more."""
    resume = ("--resume", asked.session) if asked.session else ()
    flag = "--prompt" if asked.alone else "--prompt-interactive"
    return (asked.argv[0], *options(asked, _FLAGS), *resume, f"{flag}={asked.prompt}")
