"""Claude Code: a prompt once more. Tried with 2.1.329."""

from siding.agents.again import Flags, PromptAgain, options

_FLAGS = Flags(
    frozenset({"-p", "--print", "-c", "--continue", "--fork-session", "--"}),
    frozenset({"-r", "--resume", "--session-id"}),
)


def again(asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line that gives it a prompt once more."""
    resume = ("--resume", asked.session) if asked.session else ()
    alone = ("-p",) if asked.alone else ()
    # An option may take several words: `--` ends them.
    return (asked.argv[0], *alone, *resume, *options(asked, _FLAGS), "--", asked.prompt)
