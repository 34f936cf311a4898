"""A policy: the rules in force, as people write them in ``.siding/policy.yaml``.

docs/reference/policy.md and formats.md there describe the keys. A file with one mistake in it is
broken as a whole: its policy blocks every command and names the line of the mistake. If unknown
keys were ignored, a misspelled rule would silently not hold.

A repository may be somebody else's. So its policy may forbid more at once, but it may allow more
only after a person has trusted exactly this file. When a person and a repository both set a rule's
action, the stricter action holds.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.fields import UNKNOWN
from siding.shellguard.paths import JudgingPlace
from siding.shellguard.rules import BUILT_IN, GROUPS, Rule, RuleSet
from siding.shellguard.tool_use import ToolUse
from siding.shellguard.verdict import SEVERITY, Action, Verdict

LARGEST = 1 << 20  # bytes
DEEPEST = 8  # levels of nesting; a YAML alias that contains itself would nest without end
POLICY_VERSION = 1
_NO_VARIABLES: Mapping[str, str | None] = {}
_KEYS = ("version", "rules", "disable", "actions", "programs", "writable", "examples")
_RULE_KEYS = ("name", "pattern", "action", "reason")
_NEVER_LOWERED = "unclear"  # the set for lines that are not understood: at least asked about
_KNOWN = "project"  # what a program does of which only the name is given


class PolicyMistake(ValueError):
    """The file is not a valid policy; `where` names the line or the key of the mistake."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")


class Document(NamedTuple):
    """A mapping, and the line of each value in it."""

    values: Mapping[str, Any]
    lines: Mapping[str, int]  # "rules[0].pattern" -> line, counted from 1


def document_of(raw: bytes) -> Document:
    """Return the document in a file's bytes. Raises PolicyMistake."""
    import yaml

    if len(raw) > LARGEST:
        raise PolicyMistake("the file", f"is larger than {LARGEST} bytes")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node = yaml.compose(raw, Loader=loader)
        document = yaml.load(raw, Loader=loader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "the file"
        why = getattr(error, "problem", None) or " ".join(str(error).split())
        raise PolicyMistake(where, why) from None
    except ValueError as error:
        raise PolicyMistake("the file", str(error)) from None
    lines: dict[str, int] = {}
    if node is not None:
        _note_lines(node, "", lines)
    if document is None:
        document = {}
    if not isinstance(document, dict):
        raise PolicyMistake("line 1", f"a policy is a mapping, this is {kind_of(document)}")
    return Document(values=document, lines=lines)


def _note_lines(node: Any, path: str, lines: dict[str, int]) -> None:
    if path.count(".") + path.count("[") > DEEPEST:
        raise PolicyMistake(f"line {node.start_mark.line + 1}", "nested too deeply")
    lines.setdefault(path, node.start_mark.line + 1)
    if node.id == "mapping":
        seen = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                raise PolicyMistake(f"line {key.start_mark.line + 1}", f"{name!r} is given twice")
            seen.add(name)
            here = f"{path}.{name}" if path else name
            lines[here] = key.start_mark.line + 1
            _note_lines(value, here, lines)
    elif node.id == "sequence":
        for index, value in enumerate(node.value):
            _note_lines(value, f"{path}[{index}]", lines)


def kind_of(value: object) -> str:
    """Return what a value is, in the words of a message."""
    names = {dict: "a mapping", list: "a list", str: "text", int: "a number", bool: "true or false"}
    return "nothing" if value is None else names.get(type(value), type(value).__name__)


class Policy(RuleSet):
    """The rules in force. ``Policy()`` has the built-in rules alone."""

    __slots__ = ()

    def judge(
        self,
        call: str | Sequence[str] | ToolUse,
        place: JudgingPlace,
        env: Mapping[str, str | None] = _NO_VARIABLES,
    ) -> Verdict:
        """Judge a line of shell (text), the words of a command, or the call of a tool.

        Nothing is run. The words of a command are taken literally; they are read as shell only if
        the program is a shell. `env` holds the variables that are known before the call; None is
        the value of one that must not be shown.
        """
        from siding.shellguard.engine import check_argv, check_line, check_tool

        known = {name: UNKNOWN if value is None else value for name, value in env.items()}
        if isinstance(call, ToolUse):
            return check_tool(call, place, self, known)
        if isinstance(call, str):
            return check_line(call, place, self, known)
        return check_argv(call, place, self, known)

    @staticmethod
    def built_in(name: str) -> Rule | None:
        """Return the built-in rule of this name as it is without any policy; None without one."""
        return BUILT_IN.get(name)

    # -- policies of several people --------------------------------------------------------

    def joined_with(self, project: "Policy", *, trusted: bool) -> "Policy":
        """Return the policy in force: this one is the person's, `project` the repository's.

        If one of them does not parse, the result is broken too and blocks every command.
        """
        if self.broken or project.broken:
            return Policy(broken=self.broken or project.broken)
        brought = project if trusted else project._tightening()
        actions = {**brought.actions, **self.actions}
        for name in brought.actions.keys() & self.actions.keys():
            actions[name] = max(brought.actions[name], self.actions[name], key=SEVERITY.__getitem__)
        if not trusted:
            actions = {name: _stricter(self, name, action) for name, action in actions.items()}
        return Policy(
            rules=(*self.rules, *brought.rules),
            actions=actions,
            off=(_names(self.off) - brought.actions.keys())
            | (_names(brought.off) - self.actions.keys()),
            programs={**brought.programs, **self.programs},
            writable=(*self.writable, *brought.writable),
            examples=project.examples,
            loosens=(*self.loosens, *brought.loosens),
        )

    def _tightening(self) -> "Policy":
        """Return the part of a policy that forbids more than the built-in rules do."""
        return Policy(
            rules=tuple(rule for rule in self.rules if rule.action is not Action.ALLOW),
            actions={
                name: action
                for name, action in self.actions.items()
                if SEVERITY[action] >= SEVERITY[BUILT_IN[name].action]
            },
            examples=self.examples,
        )

    # -- files and records -----------------------------------------------------------------

    @classmethod
    def read(cls, raw: bytes, *, root: str = "") -> "Policy":
        """Return the policy in a file's bytes; one with `broken` set when it does not parse.

        Relative ``writable`` directories are resolved against `root`, an absolute path.
        """
        try:
            return _policy_in(document_of(raw), root)
        except PolicyMistake as mistake:
            return cls(broken=str(mistake))

    @classmethod
    def read_examples(cls, raw: bytes) -> "Policy":
        """Return a policy that has nothing but the examples in a file's bytes.

        The file maps actions to commands. `broken` is set when it has another shape.
        """
        try:
            document = document_of(raw)
            reader = _Reader(document.lines)
            reader.version(document.values)
            rest = {key: value for key, value in document.values.items() if key != "version"}
            return cls(examples=reader.examples(rest, ""))
        except PolicyMistake as mistake:
            return cls(broken=str(mistake))

    def as_record(self) -> dict[str, Any]:
        """Return a policy as values that JSON can hold; `from_record` reverses this."""
        return {
            "rules": [
                [rule.name, rule.group, rule.action.value, rule.reason, rule.pattern.pattern]
                for rule in self.rules
                if rule.pattern is not None
            ],
            "actions": {name: action.value for name, action in self.actions.items()},
            "off": sorted(self.off),
            "programs": dict(self.programs),
            "writable": list(self.writable),
            "examples": [[line, action.value] for line, action in self.examples],
            "loosens": list(self.loosens),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Policy":
        """Return the policy in `record`.

        Raises KeyError, TypeError, ValueError or re.error when the record does not hold one.
        """
        return cls(
            rules=tuple(
                Rule(
                    name=name,
                    group=group,
                    action=Action(action),
                    reason=reason,
                    pattern=re.compile(pattern),
                )
                for name, group, action, reason, pattern in record["rules"]
            ),
            actions={
                BUILT_IN[name].name: Action(action) for name, action in record["actions"].items()
            },
            off=frozenset(record["off"]),
            programs=dict(record["programs"]),
            writable=tuple(record["writable"]),
            examples=tuple((line, Action(action)) for line, action in record["examples"]),
            loosens=tuple(record["loosens"]),
        )


def _stricter(own: Policy, name: str, action: Action) -> Action:
    """Return the stricter of `action` and the action of rule `name` in the person's policy."""
    rule = own.rule(name)
    if rule is None:
        return action  # the person switched the rule off; a repository may still switch it on
    return max(action, rule.action, key=SEVERITY.__getitem__)


def _names(off: frozenset[str]) -> frozenset[str]:
    """Return the names of rules in `off`, with each name of a set replaced by its rules."""
    sets = {name for name in off if name in GROUPS}
    return (off - sets) | {name for name, rule in BUILT_IN.items() if rule.group in sets}


def _policy_in(document: Document, root: str) -> Policy:
    values = document.values
    reader = _Reader(document.lines)
    for key in values:
        if key not in _KEYS:
            raise reader.mistake(str(key), f"not a key of a policy; there are {', '.join(_KEYS)}")
    reader.version(values)
    rules = reader.rules(values.get("rules"))
    off = frozenset(reader.known_names(values.get("disable"), "disable"))
    actions = reader.actions(values.get("actions"))
    programs = reader.programs(values.get("programs"))
    writable = tuple(
        posixpath.normpath(posixpath.join(root or "/", each))
        for each in reader.texts(values.get("writable"), "writable")
    )
    lowered = [n for n, a in actions.items() if SEVERITY[a] < SEVERITY[BUILT_IN[n].action]]
    allowing = [rule.name for rule in rules if rule.action is Action.ALLOW]
    loosens = (
        *(f"disable: {name}" for name in sorted(off)),
        *(f"actions: {name}" for name in lowered),
        *(f"rules: {name} (allow)" for name in allowing),
        *(f"programs: {name}" for name in sorted(programs)),
        *(f"writable: {path}" for path in writable),
    )
    return Policy(
        rules=rules,
        actions=actions,
        off=off,
        programs=programs,
        writable=writable,
        examples=reader.examples(values.get("examples")),
        loosens=loosens,
    )


class _Reader:
    """Reads typed values from the document; its PolicyMistake names the line of a wrong one."""

    def __init__(self, lines: Mapping[str, int]) -> None:
        self._lines = lines

    def mistake(self, path: str, why: str) -> PolicyMistake:
        line = self._lines.get(path)
        return PolicyMistake(f"line {line}, {path}" if line else path, why)

    def version(self, document: Mapping[str, Any]) -> None:
        found = document.get("version", POLICY_VERSION)
        if not isinstance(found, int) or isinstance(found, bool) or found != POLICY_VERSION:
            raise self.mistake("version", f"this Siding knows {POLICY_VERSION}, not {found!r}")

    def texts(self, value: object, path: str) -> list[str]:
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.mistake(path, f"should be a list of texts, and is {kind_of(value)}")
        for index, each in enumerate(value):
            if not isinstance(each, str) or not each:
                raise self.mistake(f"{path}[{index}]", f"should be text, and is {kind_of(each)}")
        return list(value)

    def programs(self, value: object) -> dict[str, Any]:
        """Return the rows of programs: a list of names and rows, or a mapping of names to rows."""
        if isinstance(value, dict):
            return self._rows(value, "programs")
        found: dict[str, Any] = {}
        if value is not None and not isinstance(value, list):
            raise self.mistake("programs", f"should be names or rows, and is {kind_of(value)}")
        for index, each in enumerate(value or ()):
            here = f"programs[{index}]"
            if isinstance(each, dict):
                found |= self._rows(each, here)
            elif isinstance(each, str) and each:
                found[each] = _KNOWN
            else:
                raise self.mistake(here, f"should be a name or a row, and is {kind_of(each)}")
        return found

    def _rows(self, value: dict[Any, Any], path: str) -> dict[str, Any]:
        from siding.shellguard.programs.rows import RowMistake, row_from, whole

        found: dict[str, Any] = {}
        for names, written in value.items():
            where = (str(names),)
            try:
                row = whole(_KNOWN if written is None else _texts(written), where)
                row_from(row, where)
            except RowMistake as mistake:
                raise self.mistake(".".join((path, *mistake.where)), mistake.why) from None
            found |= dict.fromkeys(where[0].split(), row)
        return found

    def known_names(self, value: object, path: str) -> list[str]:
        names = self.texts(value, path)
        for index, name in enumerate(names):
            here = f"{path}[{index}]"
            if name not in BUILT_IN and name not in GROUPS:
                raise self.mistake(here, f"there is no built-in rule or set {name!r}")
            if name == _NEVER_LOWERED or (
                name in BUILT_IN and BUILT_IN[name].group == _NEVER_LOWERED
            ):
                raise self.mistake(
                    here,
                    f"{name!r} cannot be switched off: what is not understood "
                    "is never let through silently",
                )
        return names

    def action(self, value: object, path: str) -> Action:
        try:
            return Action(str(value))
        except ValueError:
            known = ", ".join(action.value for action in Action)
            raise self.mistake(path, f"{value!r} is not an action; there are {known}") from None

    def actions(self, value: object) -> dict[str, Action]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.mistake("actions", f"should be rule: action, and is {kind_of(value)}")
        found = {}
        for name, action in value.items():
            path = f"actions.{name}"
            if name not in BUILT_IN:
                raise self.mistake(path, f"there is no built-in rule {name!r}")
            found[name] = self.action(action, path)
            low = SEVERITY[found[name]] < SEVERITY[Action.ASK]
            if low and BUILT_IN[name].group == _NEVER_LOWERED:
                raise self.mistake(path, "what is not understood is at least asked about")
        return found

    def rules(self, value: object) -> tuple[Rule, ...]:
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self.mistake("rules", f"should be a list of rules, and is {kind_of(value)}")
        rules = [self._rule(each, f"rules[{index}]") for index, each in enumerate(value)]
        names = [rule.name for rule in rules]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise self.mistake(f"rules[{index}].name", f"{name!r} is used twice")
            if name in BUILT_IN:
                raise self.mistake(
                    f"rules[{index}].name",
                    f"{name!r} is a built-in rule; change it under `actions`",
                )
        return tuple(rules)

    def _rule(self, value: object, path: str) -> Rule:
        if not isinstance(value, dict):
            raise self.mistake(path, f"should be a rule, and is {kind_of(value)}")
        for key in value:
            if key not in _RULE_KEYS:
                raise self.mistake(f"{path}.{key}", "not a key of a rule")
        for key in ("name", "pattern", "action"):
            if not isinstance(value.get(key), str) or not value[key]:
                raise self.mistake(path, f"a rule needs {key!r}, as text")
        reason = value.get("reason", "")
        if not isinstance(reason, str):
            raise self.mistake(f"{path}.reason", f"should be text, and is {kind_of(reason)}")
        return Rule(
            name=value["name"],
            group="project",
            action=self.action(value["action"], f"{path}.action"),
            reason=reason,
            pattern=self._pattern(value["pattern"], f"{path}.pattern"),
        )

    def _pattern(self, text: str, path: str) -> re.Pattern[str]:
        try:
            return re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise self.mistake(path, f"not a regular expression: {error}") from None

    def examples(self, value: object, path: str = "examples.") -> tuple[tuple[str, Action], ...]:
        if value is None:
            return ()
        if not isinstance(value, dict):
            raise self.mistake("examples", f"should be action: commands, and is {kind_of(value)}")
        return tuple(
            (line, self.action(name, f"{path}{name}"))
            for name, lines in value.items()
            for line in self.texts(lines, f"{path}{name}")
        )


def _texts(written: object) -> object:
    """Return a row with its keys as texts: ``on`` and ``no`` are truth values in YAML."""
    if isinstance(written, dict):
        return {_key(key): _texts(each) for key, each in written.items()}
    return written


def _key(key: object) -> str:
    return ("on", "off")[not key] if isinstance(key, bool) else str(key)
