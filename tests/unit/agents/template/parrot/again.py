"""Parrot: a prompt once more."""

from siding.agents.again import Flags, PromptAgain, options

_FLAGS = Flags(frozenset({"--once", "--"}), frozenset({"--resume"}))


def again(asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line that gives it a prompt once more."""
    resume = ("--resume", asked.session) if asked.session else ()
    once = ("--once",) if asked.alone else ()
    return (asked.argv[0], *once, *resume, *options(asked, _FLAGS), "--", asked.prompt)
