"""The command line with which an agent is given a prompt once more, in a conversation or a new one.

It is made of the one that the agent was started with: its options are kept, its prompts and the
conversation it named are not. Tried with Claude Code 2.1.329, Codex 0.169, Gemini CLI 0.61 and
opencode 1.18.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice

from siding.ground.namedtuples import NamedTuple

# An agent reports any text as the id of its conversation; a command line takes a harmless one.
_SESSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,63}")


class PromptAgain(NamedTuple):
    """What the agent is asked.

    `session` is its own id of the conversation to go on with, "" to begin one. `alone`: it answers
    and ends; else it goes on talking with the person. `said` are prompts that the command line may
    have.
    """

    argv: tuple[str, ...]
    prompt: str
    session: str
    alone: bool
    said: Collection[str]


def prompted_again(agent: str, asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line; () if nobody has said how this agent is given a prompt."""
    made = _AGENTS.get(agent)
    if made is None or (asked.session and not _SESSION.fullmatch(asked.session)):
        return ()
    return made(asked)


class _Flags(NamedTuple):
    """Words of a command line that are left out: alone, and with the word behind them."""

    alone: frozenset[str] = frozenset()
    with_value: frozenset[str] = frozenset()


def _kept(asked: PromptAgain, flags: _Flags) -> tuple[str, ...]:
    """Return the options of the command line, without prompts and the words of `flags`."""
    said = {each.strip() for each in (*asked.said, asked.prompt)}
    kept: list[str] = []
    words = iter(asked.argv[1:])
    for word in words:
        name, is_joined, _value = word.partition("=")
        if name in flags.with_value:
            if not is_joined:
                next(words, None)
        elif word not in flags.alone and word.strip() not in said:
            kept.append(word)
    return tuple(kept)


def _only(words: Sequence[str], names: Collection[str]) -> tuple[str, ...]:
    """Return the options of these names, each with its value."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        name, is_joined, _value = word.partition("=")
        if name in names:
            kept += [word] if is_joined else [word, *islice(rest, 1)]
    return tuple(kept)


_CLAUDE = _Flags(
    frozenset({"-p", "--print", "-c", "--continue", "--fork-session", "--"}),
    frozenset({"-r", "--resume", "--session-id"}),
)


def _claude(asked: PromptAgain) -> tuple[str, ...]:
    resume = ("--resume", asked.session) if asked.session else ()
    alone = ("-p",) if asked.alone else ()
    # An option may take several words: `--` ends them.
    return (asked.argv[0], *alone, *resume, *_kept(asked, _CLAUDE), "--", asked.prompt)


_CODEX_VERBS = frozenset({"exec", "e", "resume", "--last", "--", "-"})
_CODEX_EVERYWHERE = frozenset(
    {"-c", "--config", "-m", "--model", "-s", "--sandbox", "-p", "--profile"}
    | {"--enable", "--disable"}
)


def _codex(asked: PromptAgain) -> tuple[str, ...]:
    words = asked.argv[1:]
    named = words[words.index("resume") + 1 :][:1] if "resume" in words else ()
    was_alone = any(word in ("exec", "e") for word in words)
    kept = tuple(
        word for word in _kept(asked, _Flags(_CODEX_VERBS)) if not named or word != named[0]
    )
    if was_alone != asked.alone:
        kept = _only(kept, _CODEX_EVERYWHERE)
    alone = ("exec",) if asked.alone else ()
    resume = ("resume", asked.session) if asked.session else ()
    return (asked.argv[0], *alone, *kept, *resume, "--", asked.prompt)


_GEMINI = _Flags(
    frozenset({"--"}),
    frozenset({"-p", "--prompt", "-i", "--prompt-interactive", "-r", "--resume", "--session-id"}),
)


def _gemini(asked: PromptAgain) -> tuple[str, ...]:
    resume = ("--resume", asked.session) if asked.session else ()
    flag = "--prompt" if asked.alone else "--prompt-interactive"
    return (asked.argv[0], *_kept(asked, _GEMINI), *resume, f"{flag}={asked.prompt}")


_OPENCODE = _Flags(
    frozenset({"run", "-c", "--continue", "--"}), frozenset({"-s", "--session", "--prompt"})
)
_OPENCODE_EVERYWHERE = frozenset({"-m", "--model", "--agent"})


def _opencode(asked: PromptAgain) -> tuple[str, ...]:
    kept = _kept(asked, _OPENCODE)
    if ("run" in asked.argv[1:]) != asked.alone:
        kept = _only(kept, _OPENCODE_EVERYWHERE)
    resume = ("--session", asked.session) if asked.session else ()
    if asked.alone:
        return (asked.argv[0], "run", *resume, *kept, "--", asked.prompt)
    return (asked.argv[0], *resume, *kept, f"--prompt={asked.prompt}")


_AGENTS: Mapping[str, Callable[[PromptAgain], tuple[str, ...]]] = {
    "siding-agent": _claude,  # it takes the options of Claude Code
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
}
