"""opencode: a prompt once more. Tried with 1.18."""

from siding.agents.again import Flags, PromptAgain, only, options

_FLAGS = Flags(
    frozenset({"run", "-c", "--continue", "--"}), frozenset({"-s", "--session", "--prompt"})
)
_EVERYWHERE = frozenset({"-m", "--model", "--agent"})


def again(asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line that gives it a prompt once more."""
    kept = options(asked, _FLAGS)
    if ("run" in asked.argv[1:]) != asked.alone:
        kept = only(kept, _EVERYWHERE)
    resume = ("--session", asked.session) if asked.session else ()
    if asked.alone:
        return (asked.argv[0], "run", *resume, *kept, "--", asked.prompt)
    return (asked.argv[0], *resume, *kept, f"--prompt={asked.prompt}")
