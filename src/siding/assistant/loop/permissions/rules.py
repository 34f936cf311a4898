"""The modes of permissions: what happens to a call that no rule decides."""

import re
from collections.abc import Iterable
from enum import StrEnum

from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple


class PermissionMode(StrEnum):
    """What happens to a call about which no rule says anything. Their names are Claude Code's."""

    DEFAULT = "default"  # what changes something, or leaves the workspace, is asked about
    ACCEPT_EDITS = "acceptEdits"  # files of the workspace are changed without a question
    PLAN = "plan"  # nothing is changed
    DONT_ASK = "dontAsk"  # what would be asked about is denied
    BYPASS = "bypassPermissions"  # what would be asked about is done; in a sandbox only


# From what permits most to what permits least.
NARROWER = (
    PermissionMode.BYPASS,
    PermissionMode.ACCEPT_EDITS,
    PermissionMode.DEFAULT,
    PermissionMode.DONT_ASK,
    PermissionMode.PLAN,
)
# As newer hosts of the SDK call it; where Claude Code has a model decide (`auto`), a person does.
_OTHER_NAMES = {"manual": PermissionMode.DEFAULT, "auto": PermissionMode.DEFAULT}


class BypassRefused(UsageError):
    """The mode bypassPermissions was wanted where it is not allowed."""

    code = "bypass_refused"


def mode_named(name: str) -> PermissionMode:
    """Return the mode of this name. Raises UsageError."""
    if name in _OTHER_NAMES:
        return _OTHER_NAMES[name]
    try:
        return PermissionMode(name)
    except ValueError:
        raise UsageError(
            f"there is no permission mode {name!r}",
            hint=f"the modes are {', '.join(PermissionMode)}",
        ) from None


def require_allowed(mode: PermissionMode, *, is_sandboxed: bool, may_bypass: bool = True) -> None:
    """Raise BypassRefused if the mode is bypassPermissions and may not be used here.

    `may_bypass`: the settings do not forbid it.
    """
    if mode is not PermissionMode.BYPASS:
        return
    if not may_bypass:
        raise BypassRefused(
            "the settings forbid the permission mode bypassPermissions",
            hint="`permissions.bypass: false` stands in one of the files of settings",
        )
    if not is_sandboxed:
        raise BypassRefused(
            "the permission mode bypassPermissions needs a sandbox: without one, nothing would "
            "limit what the agent can do",
            hint="start it with `siding run --sandbox -- …`, or use the mode acceptEdits",
        )


# -- Rules of permissions, in the grammar of Claude Code: ``Tool`` or ``Tool(pattern)`` ------------
#
#     Bash                        each command
#     Bash(npm run build)         this command
#     Bash(git commit:*)          commands that begin with these words; also ``Bash(git commit *)``
#     Read(src/**), Edit(~/x)     tools that read, or change, these files
#     WebFetch(domain:a.example)  addresses of this host; ``*.a.example`` those below it
#     mcp__github, mcp__github__* tools of this server
#
# ``\(``, ``\)`` and ``\\`` in a pattern are the characters. ``Tool(*)`` and ``Tool()`` are
# ``Tool``.


_NAME = re.compile(r"[A-Za-z_*][\w*.-]*\Z")
_OF_SERVER = re.compile(r"mcp__[^*]+?__")
DOMAIN = "domain:"
SHELL = "Bash"
FETCH = "WebFetch"
LONGEST_RULE = 10_000  # characters


class BadRule(UsageError):
    """A text is no rule of permissions."""

    code = "bad_rule"


class Behaviour(StrEnum):
    """What happens to a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class PermissionRule(NamedTuple):
    """A tool, and what it is used on; "" is anything. `source` says where the rule is from."""

    tool: str
    pattern: str = ""
    source: str = ""

    @property
    def text(self) -> str:
        """The rule as it is written."""
        if not self.pattern:
            return self.tool
        escaped = re.sub(r"([\\()])", r"\\\1", self.pattern)
        return f"{self.tool}({escaped})"

    @property
    def shown(self) -> str:
        """The rule with where it is from, for messages."""
        return f"{self.text} ({self.source})" if self.source else self.text


class PermissionRules(NamedTuple):
    """The rules in force."""

    allow: tuple[PermissionRule, ...] = ()
    ask: tuple[PermissionRule, ...] = ()
    deny: tuple[PermissionRule, ...] = ()

    def plus(self, other: "PermissionRules") -> "PermissionRules":
        """Return these rules and others."""
        return PermissionRules(
            allow=tuple(dict.fromkeys((*self.allow, *other.allow))),
            ask=tuple(dict.fromkeys((*self.ask, *other.ask))),
            deny=tuple(dict.fromkeys((*self.deny, *other.deny))),
        )


def parse_rule(text: str, source: str = "") -> PermissionRule:
    """Return the rule that a text means. Raises BadRule."""
    written = text.strip()
    if len(written) > LONGEST_RULE or "\0" in written:
        raise BadRule(f"a rule has at most {LONGEST_RULE:,} characters, and no NUL among them")
    tool, pattern = written, ""
    if "(" in written or written.endswith(")"):
        tool, _, rest = written.partition("(")
        if not rest.endswith(")") or _is_escaped(rest, len(rest) - 1):
            raise BadRule(f"the rule {written!r} is not closed", hint="Tool or Tool(pattern)")
        pattern = _unescaped(rest[:-1]).strip()
    if not _NAME.match(tool):
        raise BadRule(f"{tool!r} in the rule {written!r} is no name of a tool", hint=_EXAMPLES)
    rule = PermissionRule(tool, "" if pattern == "*" else pattern, source)
    problem = _problem(rule)
    if problem:
        raise BadRule(f"the rule {written!r}: {problem}", hint=_EXAMPLES)
    return rule


_EXAMPLES = "such as Bash(git commit:*), Read(src/**), WebFetch(domain:example.org), mcp__github"


def _problem(rule: PermissionRule) -> str:
    """Return what is wrong with a rule that can be read, "" if nothing is."""
    pattern = rule.pattern
    if not pattern:
        return ""
    if "*" in rule.tool or rule.tool.startswith("mcp__"):
        return "tools of servers, and names with a `*`, have no pattern"
    if rule.tool == SHELL and ":*" in pattern.removesuffix(":*"):
        return "`:*` stands at its end only"
    if rule.tool == SHELL and not pattern.removesuffix(":*").strip():
        return "no command stands before `:*`"
    if rule.tool == FETCH and not re.fullmatch(r"domain:(\*\.)?[A-Za-z0-9.-]+", pattern):
        return "addresses are named by their host, as domain:example.org"
    return ""


def parse_rules(texts: Iterable[str], source: str = "") -> tuple[PermissionRule, ...]:
    """Return the rules that some texts mean. Raises BadRule."""
    return tuple(parse_rule(text, source) for text in texts)


def parse_allow(texts: Iterable[str], source: str = "") -> tuple[PermissionRule, ...]:
    """Return rules that are to allow something. Raises BadRule.

    A `*` in a tool's name may stand only behind the name of a server: a rule that allows tools
    which nobody has thought of yet is a mistake.
    """
    found = parse_rules(texts, source)
    for rule in found:
        if "*" in rule.tool and not _OF_SERVER.match(rule.tool):
            raise BadRule(
                f"the rule {rule.text!r} would allow tools that it does not name",
                hint="name the tools, or those of a server: mcp__github__*",
            )
    return found


def split_list(text: str) -> tuple[str, ...]:
    """Return the rules in a list that is separated by commas or white space.

    Both may stand within the brackets of a pattern: ``Bash(git log:*),Read Edit(a, b)``.
    """
    found: list[str] = []
    current, depth, escaped = "", 0, False
    for letter in text:
        if depth == 0 and (letter == "," or letter.isspace()):
            found.append(current)
            current = ""
            continue
        current += letter
        if not escaped and letter in "()":
            depth = max(0, depth + (1 if letter == "(" else -1))
        escaped = letter == "\\" and not escaped
    return tuple(each for each in (*found, current) if each)


def _is_escaped(text: str, at: int) -> bool:
    before = text[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _unescaped(text: str) -> str:
    return re.sub(r"\\([\\()])", r"\1", text)
