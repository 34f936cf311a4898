"""What is remembered of an answer: rules, a mode, directories; and what is offered to remember."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.assistant.loop.permissions.facts import CallFacts
from siding.assistant.loop.permissions.rules import (
    DOMAIN,
    FETCH,
    SHELL,
    BadRule,
    Behaviour,
    PermissionMode,
    PermissionRule,
    PermissionRules,
    parse_allow,
    parse_rule,
)
from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import Effect, Mark

REMEMBERED = "an answer in this conversation"  # the source of such rules

# Programs that run whatever they are told, destroy, or send: a rule for what such a command begins
# with would allow far more than the person has just seen.
_TOO_BROAD = frozenset(
    """
    . ash awk bash bun builtin chmod chown command csh curl dash dd deno docker doas env eval exec
    expect find fish gawk go kill killall ksh ln lua make mv nc nice node nohup npx parallel perl
    php pkill pnpm podman powershell pwsh python python2 python3 rm rsync ruby scp script sed setsid
    sh shred source ssh su sudo tar tclsh tcsh tee timeout tmux uv uvx watch wget xargs yarn zsh
    """.split()
)
_HAS_SUBCOMMANDS = frozenset(
    """
    apt brew bundle cargo composer dotnet gem gh git glab go gradle helm hg jj just kubectl mvn npm
    pip pipx pnpm poetry rustup svn terraform uv yarn
    """.split()
)


class Scope(StrEnum):
    """For how long an update counts. The words are the SDK's."""

    SESSION = "session"
    PROJECT = "localSettings"  # for this person, in this project


class PermissionUpdate(NamedTuple):
    """What is to count from now on. `mode` None leaves the mode as it is."""

    scope: Scope = Scope.SESSION
    behaviour: Behaviour = Behaviour.ALLOW
    rules: tuple[PermissionRule, ...] = ()
    mode: PermissionMode | None = None
    directories: tuple[str, ...] = ()


class PermissionState(NamedTuple):
    """What is in force in a conversation. `directories` were added to the workspace in it."""

    mode: PermissionMode = PermissionMode.DEFAULT
    rules: PermissionRules = PermissionRules()
    directories: tuple[str, ...] = ()

    def after(self, update: PermissionUpdate) -> "PermissionState":
        """Return the state with an update. Nothing that denies or asks is ever taken out."""
        added = PermissionRules(**{update.behaviour.value: update.rules})
        return PermissionState(
            mode=self.mode if update.mode is None else update.mode,
            rules=self.rules.plus(added),
            directories=tuple(dict.fromkeys((*self.directories, *update.directories))),
        )


def update_from(said: Mapping[str, Any]) -> PermissionUpdate | None:
    """Return an update that a host of the SDK has sent; None for one that cannot be carried out.

    Its `type` is ``addRules``, ``setMode`` or ``addDirectories``. Others take something out, and
    are passed over. A destination that is written into a repository counts for the session.
    """
    scope = Scope.PROJECT if said.get("destination") == Scope.PROJECT else Scope.SESSION
    try:
        match said.get("type"):
            case "addRules":
                behaviour = Behaviour(str(said.get("behavior")))
                rules = tuple(_rule(each, behaviour) for each in _list(said.get("rules")))
                return PermissionUpdate(scope, behaviour, rules) if rules else None
            case "setMode":
                return PermissionUpdate(mode=PermissionMode(str(said.get("mode"))))
            case "addDirectories":
                found = tuple(map(str, _list(said.get("directories"))))
                return PermissionUpdate(scope, directories=found) if found else None
            case _:
                return None
    except (UsageError, ValueError):
        return None


def as_said(update: PermissionUpdate) -> dict[str, Any]:
    """Return an update as hosts of the SDK know it."""
    if update.mode is not None:
        return {"type": "setMode", "mode": update.mode.value, "destination": update.scope.value}
    if update.directories:
        directories = list(update.directories)
        return {
            "type": "addDirectories",
            "directories": directories,
            "destination": update.scope.value,
        }
    return {
        "type": "addRules",
        "rules": [
            {"toolName": rule.tool, **({"ruleContent": rule.pattern} if rule.pattern else {})}
            for rule in update.rules
        ],
        "behavior": update.behaviour.value,
        "destination": update.scope.value,
    }


def suggestions(facts: CallFacts) -> tuple[PermissionUpdate, ...]:
    """Return what a person may want to remember with a yes to a call, the narrowest first."""
    if facts.line is not None:
        return _of_line(facts)
    if facts.hosts:
        hosts = [
            PermissionRule(FETCH, f"{DOMAIN}{each}", REMEMBERED) for each in facts.hosts if each
        ]
        return _both(*hosts) if len(hosts) == len(facts.hosts) else ()
    if not facts.files:
        return _both(PermissionRule(facts.tool, "", REMEMBERED))
    if any(each.effect is Effect.READS for each in facts.files):
        tops = {each.real.rpartition("/")[0] for each in facts.files}
        if not all(top and not Mark.are_in(top) and "*" not in top for top in tops):
            return ()
        return _both(*(PermissionRule("Read", f"/{top}/**", REMEMBERED) for top in sorted(tops)))
    return (PermissionUpdate(mode=PermissionMode.ACCEPT_EDITS),)


def _of_line(facts: CallFacts) -> tuple[PermissionUpdate, ...]:
    assert facts.line is not None
    command = facts.use.command.strip()
    exact = () if "*" in command else _both(PermissionRule(SHELL, command, REMEMBERED))
    outer = [each for each in facts.line.commands if each.within is None]
    if facts.line.unclear or not outer:
        return exact
    prefixes = [_prefix(each.words) for each in outer]
    if not all(prefixes):
        return exact
    rules = [PermissionRule(SHELL, f"{prefix}:*", REMEMBERED) for prefix in dict.fromkeys(prefixes)]
    return (*exact, *_both(*rules))


def _prefix(words: tuple[str, ...]) -> str:
    """Return what a command begins with, as far as a rule for it is narrow; "" if none is."""
    program = words[0]
    if not _is_plain(program) or program in _TOO_BROAD - _HAS_SUBCOMMANDS:
        return ""
    if program not in _HAS_SUBCOMMANDS:
        return program
    if len(words) < 2 or not _is_plain(words[1]) or words[1] in ("run", "exec", "x", "dlx"):
        return ""
    return f"{program} {words[1]}"


def _is_plain(word: str) -> bool:
    return (
        not Mark.are_in(word)
        and word[:1].isalnum()
        and all(c.isalnum() or c in "-_." for c in word)
    )


def _both(*rules: PermissionRule) -> tuple[PermissionUpdate, ...]:
    return tuple(PermissionUpdate(scope, Behaviour.ALLOW, rules) for scope in Scope)


def _rule(said: object, behaviour: Behaviour) -> PermissionRule:
    name = said.get("toolName") if isinstance(said, dict) else None
    content = said.get("ruleContent", "") if isinstance(said, dict) else None
    if not isinstance(name, str) or not isinstance(content, str | None):
        raise BadRule("a rule has a toolName and perhaps a ruleContent")
    text = PermissionRule(name, content or "").text
    if behaviour is Behaviour.ALLOW:
        return parse_allow([text], REMEMBERED)[0]
    return parse_rule(text, REMEMBERED)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
