"""Codex: a prompt once more. Tried with 0.169."""

from siding.agents.again import Flags, PromptAgain, only, options

_VERBS = frozenset({"exec", "e", "resume", "--last", "--", "-"})
_EVERYWHERE = frozenset(
    {"-c", "--config", "-m", "--model", "-s", "--sandbox", "-p", "--profile"}
    | {"--enable", "--disable"}
)


def again(asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line that gives it a prompt once more."""
    words = asked.argv[1:]
    named = words[words.index("resume") + 1 :][:1] if "resume" in words else ()
    was_alone = any(word in ("exec", "e") for word in words)
    kept = tuple(word for word in options(asked, Flags(_VERBS)) if not named or word != named[0])
    if was_alone != asked.alone:
        kept = only(kept, _EVERYWHERE)
    alone = ("exec",) if asked.alone else ()
    resume = ("resume", asked.session) if asked.session else ()
    return (asked.argv[0], *alone, *kept, *resume, "--", asked.prompt)
