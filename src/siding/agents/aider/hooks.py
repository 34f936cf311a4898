"""aider: how its turns are seen.

It has no hooks. Each prompt is written into its chat history at once, where it is followed
(`ground.process.broker.follow`); and it runs a command when it waits for a person, who is to give
the next prompt or to confirm something (`--notifications-command`). Tried with 0.86.2.
"""

import posixpath

from siding.agents.hooks import Adapter, Injection, Reach
from siding.agents.plain_words import Plain

_USUAL = ".aider.chat.history.md"  # in the root of the repository
_HISTORY, _HISTORY_VARIABLE = "--chat-history-file", "AIDER_CHAT_HISTORY_FILE"
_CALL, _CALL_VARIABLE = "--notifications-command", "AIDER_NOTIFICATIONS_COMMAND"
_SETTINGS = ".aider.conf.yml"
_NO_CONVERSATION = frozenset(
    """
    -h --help --version --just-check-update --install-main-branch --upgrade --update --list-models
    --models --exit --show-repo-map --show-prompts --shell-completions --gui --browser --apply
    --commit --lint --test
    """.split()
)
_UNJUDGED = "it has no hooks, so nobody is asked before it runs a command"


class Aider(Plain):
    """The adapter of aider."""

    def injected(self, argv: tuple[str, ...], reach: Reach) -> Injection:
        for word in argv[1:]:
            if word.partition("=")[0] in _NO_CONVERSATION:
                return Injection(argv, why_not=f"with {word} it has no conversation to follow")
        history = _given(argv, _HISTORY) or reach.env.get(_HISTORY_VARIABLE, "")
        if not history and _is_set(_HISTORY, reach):
            where = f"{_SETTINGS} says where its chat history is"
            return Injection(argv, why_not=f"{where}; say it by {_HISTORY}, too")
        # Without a variable of its own the history lies in the root, which is the workspace.
        path = history or posixpath.join(reach.env.get("SIDING_WORKSPACE", ""), _USUAL)
        told = (*reach.follow, path, "--", argv[0], *_called(argv, reach), *argv[1:])
        return Injection(told, unjudged=_UNJUDGED)


ADAPTER: Adapter = Aider()


def _called(argv: tuple[str, ...], reach: Reach) -> tuple[str, ...]:
    """Return the flags by which it says that it waits for a prompt; a person's own come first."""
    is_own = _given(argv, _CALL) or reach.env.get(_CALL_VARIABLE) or _is_set(_CALL, reach)
    if is_own or "--no-notifications" in argv:
        return ()
    return ("--notifications", _CALL, 'kill -USR1 "$SIDING_FOLLOWER"')


def _given(argv: tuple[str, ...], flag: str) -> str:
    """Return the value of a flag, "" if it is not given."""
    for at, word in enumerate(argv):
        if word == flag and at + 1 < len(argv):
            return argv[at + 1]
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
    return ""


def _is_set(flag: str, reach: Reach) -> bool:
    """Tell whether one of aider's settings files has what a flag says."""
    home = reach.env.get("HOME", "")
    root = reach.env.get("SIDING_WORKSPACE", "")
    for directory in dict.fromkeys((home, root, "")):
        try:
            text = reach.read(posixpath.join(directory, _SETTINGS))
        except (OSError, ValueError):
            continue
        if any(line.startswith(f"{flag.lstrip('-')}:") for line in text.splitlines()):
            return True
    return False
