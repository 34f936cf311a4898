"""What a person may let an agent always do: the rules that an ask is offered as, and judged by.

They are rules of permissions as those of the own agent (`assistant.loop.permissions`), made of what
the ask shows: what a command begins with, or all of it where that alone is narrow; the directory of
an ordinary file of the workspace; the host of an address; else the tool's name. An ask that is not
wholly understood has none, and is always put to a person. Pure but for the paths that are resolved.
"""

import posixpath
from collections.abc import Sequence

from siding.agents.talking.port import Asked
from siding.assistant.loop.permissions.decision import Allowing
from siding.assistant.loop.permissions.facts import CallFacts, PermissionGround, facts_of
from siding.assistant.loop.permissions.patterns import EDITS, READ, Fit, means
from siding.assistant.loop.permissions.rules import (
    DOMAIN,
    FETCH,
    SHELL,
    BadRule,
    PermissionRule,
    parse_allow,
)
from siding.assistant.loop.permissions.updates import Scope, suggestions
from siding.assistant.tools.port import Use
from siding.ground.storage.fields import text
from siding.shellguard.face import Effect, ToolUse

__all__ = [
    "CallFacts",
    "PermissionGround",
    "PermissionRule",
    "allows",
    "facts_of_ask",
    "is_meant",
    "offered",
    "rule_in",
    "words_of",
]

_EDIT = "Edit"
_OF_RULES = EDITS | {READ, FETCH, SHELL}  # names that mean more than a tool of this name
_LONGEST = 120  # characters of a command that fits a label
_MOST = 3  # rules for one ask
_WILD = frozenset("*?[\\")
# The fields in which agents name a file that is to be read.
_PATHS = ("file_path", "filePath", "absolute_path", "path")
_LOOKS = frozenset({"read", "search"})
_BY_NAME = frozenset({"other", "think"})


def facts_of_ask(asked: Asked, ground: PermissionGround) -> CallFacts | None:
    """Return what is known of what an agent asks for; None if that is not all of it."""
    if asked.choices or asked.gives_more:
        return None
    if asked.command:
        return _of_command(asked, ground)
    if asked.kind == "edit":
        return _of_edits(asked, ground)
    if asked.edits:
        return None
    if asked.kind in _LOOKS:
        return _of_read(asked, ground)
    if asked.kind == "fetch":
        return _touching(FETCH, Effect.FETCHES, [text(asked.input.get("url"))], ground)
    return _of_tool(asked, ground) if asked.kind in _BY_NAME else None


def offered(facts: CallFacts, ground: PermissionGround) -> tuple[PermissionRule, ...]:
    """Return the narrowest rules that would allow this next time; () if there are none."""
    rules = _edited(facts, ground) if facts.tool == _EDIT else _suggested(facts)
    is_kept_whole = all(rule_in(each.text) == (each.tool, each.pattern, "") for each in rules)
    is_narrow = len(rules) <= _MOST and is_kept_whole
    return rules if is_narrow and allows(rules, facts, ground) else ()


def allows(rules: Sequence[PermissionRule], facts: CallFacts, ground: PermissionGround) -> bool:
    """Tell whether rules allow all of what an agent asks for, and one of them means it.

    What only looks needs no rule beside others; by itself it is asked about, as the agent has done.
    """
    some = any(is_meant(each, facts, ground) for each in rules)
    return some and Allowing(tuple(rules), ground).allows(facts)


def is_meant(rule: PermissionRule, facts: CallFacts, ground: PermissionGround) -> bool:
    """Tell whether a rule means some of what an agent asks for."""
    return means(rule, facts, ground) is Fit.YES


def words_of(rules: Sequence[PermissionRule]) -> str:
    """Return what rules allow, as a phrase behind “let it”: ``run `git status …` ``."""
    verbs: dict[str, list[str]] = {}
    for each in rules:
        verb, what = _words(each)
        verbs.setdefault(verb, []).append(what)
    return " and ".join(f"{verb} {' and '.join(found)}" for verb, found in verbs.items())


def _words(rule: PermissionRule) -> tuple[str, str]:
    pattern = rule.pattern
    if not pattern:
        return "use", rule.tool
    if rule.tool == SHELL:
        begin = pattern.removesuffix(":*")
        return ("run", f"`{begin} …`") if begin != pattern else ("run", f"exactly `{pattern}`")
    if rule.tool == FETCH:
        return "fetch from", pattern.removeprefix(DOMAIN)
    verb = "change" if rule.tool == _EDIT else "read"
    path = pattern.removeprefix("/")
    below = path.removesuffix("/**")
    return (verb, path) if below == path else (f"{verb} files in", f"{below}/")


# -- What is known of an ask -----------------------------------------------------------------------


def _of_command(asked: Asked, ground: PermissionGround) -> CallFacts | None:
    if asked.edits or asked.kind in ("edit", "delete", "move", "fetch"):
        return None
    facts = facts_of(SHELL, Use(command=asked.command), ground, is_safe=False)
    line = facts.line
    return None if line is None or line.unclear or not line.commands else facts


def _of_edits(asked: Asked, ground: PermissionGround) -> CallFacts | None:
    paths = [posixpath.join(ground.place.cwd, each.path) for each in asked.edits if each.path]
    if len(paths) != len(asked.edits):
        return None
    facts = _touching(_EDIT, Effect.WRITES, paths, ground)
    if facts is None or not all(ground.is_ordinary(p) for f in facts.files for p in f.paths):
        return None  # what steers programs and agents is asked about each time
    return facts


def _of_read(asked: Asked, ground: PermissionGround) -> CallFacts | None:
    named = [text(asked.input.get(each)) for each in _PATHS]
    paths = [posixpath.join(ground.place.cwd, each) for each in named if each]
    return _touching(READ, Effect.READS, paths, ground) if len(paths) == 1 else None


def _touching(
    tool: str, effect: Effect, what: Sequence[str], ground: PermissionGround
) -> CallFacts | None:
    if not what or not all(what):
        return None
    use = Use(touches=ToolUse(tool, tuple((effect, each) for each in what)))
    facts = facts_of(tool, use, ground, is_safe=effect is Effect.READS)
    is_known = all(each.is_known for each in facts.files) and all(facts.hosts)
    return facts if is_known else None


def _of_tool(asked: Asked, ground: PermissionGround) -> CallFacts | None:
    tool = asked.tool
    is_server = tool.startswith("mcp__") and "__" not in tool.removeprefix("mcp__")
    if not tool or tool in _OF_RULES or "*" in tool or is_server:
        return None
    return facts_of(tool, Use(), ground, is_safe=False)


# -- What it may be remembered as ------------------------------------------------------------------


def _suggested(facts: CallFacts) -> tuple[PermissionRule, ...]:
    """Return what the own agent would offer for such a call: the widest of what is narrow."""
    found = [each.rules for each in suggestions(facts) if each.scope is Scope.SESSION]
    rules = found[-1] if found else ()
    return () if any(_is_long(each.pattern) for each in rules) else rules


def _is_long(pattern: str) -> bool:
    return len(pattern) > _LONGEST or not pattern.isprintable()


def _edited(facts: CallFacts, ground: PermissionGround) -> tuple[PermissionRule, ...]:
    """Return a rule for each directory of the workspace in which files are changed; for a file that
    lies in none, one for it alone.
    """
    top = ground.place.workspace.rstrip("/") + "/"
    paths = [each.real.removeprefix(top) for each in facts.files]
    if any(_WILD.intersection(each) or not each.isprintable() for each in paths):
        return ()
    below = [(each, each.rpartition("/")[0]) for each in paths]
    patterns = [f"/{directory}/**" if directory else f"/{path}" for path, directory in below]
    return tuple(PermissionRule(_EDIT, each) for each in dict.fromkeys(patterns))


def rule_in(said: str) -> PermissionRule | None:
    """Return the rule that is written so; None for one that cannot be read."""
    try:
        return parse_allow([said])[0]
    except BadRule:
        return None
