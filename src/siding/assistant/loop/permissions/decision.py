"""The decision on a call. Pure but for the paths that are resolved.

In this order: a rule that denies; the mode `plan`; a rule that asks, or that may deny what is known
only when it runs; the mode `bypassPermissions`; what is allowed by a rule, by what it is or by the
mode `acceptEdits`; else a question, which the mode `dontAsk` turns into a no.
"""

from collections.abc import Iterable

from siding.assistant.loop.permissions.facts import CallFacts, PermissionGround, UsedFile, facts_of
from siding.assistant.loop.permissions.patterns import (
    EDITS,
    READ,
    Fit,
    fits,
    fits_host,
    fits_text,
    globs,
    literal,
    means,
    meet,
    names_tool,
)
from siding.assistant.loop.permissions.rules import (
    FETCH,
    SHELL,
    Behaviour,
    PermissionMode,
    PermissionRule,
    PermissionRules,
)
from siding.assistant.tools.port import Use
from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import Effect, LineUse, ToolUse

# -- Whether a call is allowed: by rules, by what it is, or because edits are accepted -------------
#
# All that the call does has to be allowed. A line of shell is allowed if each of its commands is,
# and each file that its redirections open. What is known only when it runs is not allowed by any
# pattern.


# Variables that change how a program shows something, and not what it does.
_PLAIN_VARIABLES = frozenset(
    """
    LANG LANGUAGE LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_NUMERIC LC_TIME TZ TERM COLUMNS LINES
    NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE CI DEBUG NODE_ENV RUST_BACKTRACE RUST_LOG
    PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONIOENCODING
    """.split()
)
# Programs that start another one and do nothing else to it: a rule for that one is enough.
_TRANSPARENT = frozenset("command ionice nice nohup stdbuf timeout".split())
_OF_REDIRECTIONS = frozenset(
    """
    write-outside write-system write-repository write-unknown write-device steer-agents read-secret
    """.split()
)


class Allowing(NamedTuple):
    """What may allow a call. `edits`: changes of ordinary files of the workspace are accepted."""

    rules: tuple[PermissionRule, ...]
    ground: PermissionGround
    edits: bool = False

    def allows(self, facts: CallFacts) -> bool:
        """Tell whether a call is allowed."""
        if any(not rule.pattern and names_tool(rule.tool, facts.tool) for rule in self.rules):
            return True
        if facts.line is not None:
            return self._line(facts, facts.line)
        if facts.files or facts.hosts:
            return self._touches(facts)
        return facts.is_safe or any(
            rule.pattern and rule.tool == facts.tool and fits_text(rule.pattern, facts.use.pattern)
            for rule in self.rules
        )

    # -- tools that work on files and addresses --------------------------------------------

    def _touches(self, facts: CallFacts) -> bool:
        only_reads = not facts.hosts and all(e.effect is Effect.READS for e in facts.files)
        if only_reads and not facts.is_safe:
            return False
        return all(map(self._file, facts.files)) and all(map(self._host, facts.hosts))

    def _file(self, file: UsedFile) -> bool:
        if not file.is_known:
            return False
        if file.effect is Effect.READS:
            return self._reads(file)
        is_edit = self.edits and file.effect is Effect.WRITES
        return all(
            (is_edit and self.ground.is_ordinary(path)) or self._named(path, EDITS)
            for path in file.paths
        )

    def _reads(self, file: UsedFile) -> bool:
        """Tell whether a file may be read; a pattern of names in a directory may be, too."""
        may_be_named = file.is_known and not file.is_deep
        return all(
            self.ground.may_read(path) or (may_be_named and self._named(path, EDITS | {READ}))
            for path in file.paths
        )

    def _named(self, path: str, tools: frozenset[str]) -> bool:
        """Tell whether a rule names a path. A name and where it leads have to be named both."""
        return any(
            meet(glob, literal(path))
            for rule in self.rules
            if rule.pattern and rule.tool in tools
            for glob in globs(rule.pattern, self.ground, anywhere=False)
        )

    def _host(self, host: str) -> bool:
        return any(
            rule.tool == FETCH and rule.pattern and fits_host(rule.pattern, host)
            for rule in self.rules
        )

    # -- lines of shell --------------------------------------------------------------------

    def _line(self, facts: CallFacts, line: LineUse) -> bool:
        written = facts.use.command.strip()
        if any(rule.tool == SHELL and rule.pattern == written for rule in self.rules):
            return True
        if line.unclear or not line.commands or not all(map(_may_last, line.variables)):
            return False
        named = [self._names(line, at) for at in range(len(line.commands))]
        if not all(named[at] or self._passes(facts, line, at) for at in range(len(named))):
            return False
        return self._redirections(facts, named) and not any(
            each.by is None and each.rule not in _OF_REDIRECTIONS for each in line.findings
        )

    def _names(self, line: LineUse, at: int | None) -> bool:
        """Tell whether a rule names a command, or one that starts it."""
        while at is not None:
            command = line.commands[at]
            is_plain = all(each in _PLAIN_VARIABLES for each in command.variables)
            if (
                not command.is_function
                and is_plain
                and self._names_command(command.words, command.text)
            ):
                return True
            at = command.within
        return False

    def _names_command(self, words: tuple[str, ...], text: str) -> bool:
        return any(
            rule.tool == SHELL and rule.pattern and fits(rule.pattern, words, text) is Fit.YES
            for rule in self.rules
        )

    def _passes(self, facts: CallFacts, line: LineUse, at: int) -> bool:
        """Tell whether a command that no rule names changes nothing, or only starts others."""
        command = line.commands[at]
        if not all(each in _PLAIN_VARIABLES for each in command.variables):
            return False
        if command.is_function or command.words[0] in _TRANSPARENT:
            return any(each.within == at for each in line.commands)
        if any(each.by == at for each in line.findings) or not command.only_reads:
            return False
        resolve = self.ground.place.resolve
        is_inside = all(self.ground.may_read(resolve(cwd)) for cwd in command.cwds)
        return is_inside and all(self._reads(each) for each in facts.files if each.by == at)

    def _redirections(self, facts: CallFacts, named: list[bool]) -> bool:
        return all(
            self._file(each) or self.ground.place.is_harmless_device(each.named)
            for each in facts.files
            if each.by is None and not (each.within is not None and named[each.within])
        )


def _may_last(variable: str) -> bool:
    """Tell whether a line may set a variable for what follows: one that programs do not read."""
    return variable in _PLAIN_VARIABLES or variable.lower() == variable


# -- The decision on a call. Pure but for the paths that are resolved ------------------------------
#
# In this order: a rule that denies; the mode `plan`; a rule that asks, or that may deny what is
# known only when it runs; the mode `bypassPermissions`; what is allowed by a rule, by what it is or
# by the mode `acceptEdits`; else a question, which the mode `dontAsk` turns into a no.


_SHOWN = 300  # characters of a rule in a reason


class PermissionDecision(NamedTuple):
    """What happens to a call, and why: a sentence for the model, or for the person who is asked."""

    behaviour: Behaviour
    reason: str = ""


def decide(
    tool: str,
    use: Use,
    mode: PermissionMode,
    rules: PermissionRules,
    ground: PermissionGround,
    *,
    is_safe: bool,
) -> PermissionDecision:
    """Decide on a call of a tool; `is_safe`: it changes nothing."""
    return decide_on(facts_of(tool, use, ground, is_safe=is_safe), mode, rules, ground)


def decide_on(
    facts: CallFacts, mode: PermissionMode, rules: PermissionRules, ground: PermissionGround
) -> PermissionDecision:
    """Decide on a call of which everything is known that can be."""
    denying, by = _strongest(rules.deny, facts, ground)
    if denying is Fit.YES:
        return PermissionDecision(Behaviour.DENY, f"The permissions deny this: {by}.")
    if mode is PermissionMode.PLAN and not facts.is_safe:
        return PermissionDecision(
            Behaviour.DENY,
            f"The mode is plan: nothing is changed, so {facts.tool} was not used. Read and search "
            "as much as you need, then say what you would do and let the person decide.",
        )
    asking, by_ask = _strongest(rules.ask, facts, ground)
    if denying is Fit.MAYBE:
        return _ask(mode, f"what it does is known only when it runs, and {by} may deny it")
    if asking is not Fit.NO:
        return _ask(mode, f"the permissions ask: {by_ask}")
    if mode is PermissionMode.BYPASS:
        return PermissionDecision(Behaviour.ALLOW)
    edits = mode is PermissionMode.ACCEPT_EDITS
    if Allowing(rules.allow, ground, edits=edits).allows(facts):
        return PermissionDecision(Behaviour.ALLOW)
    return _ask(mode, _why_not_allowed(facts))


def is_read_denied(path: str, rules: PermissionRules, ground: PermissionGround) -> bool:
    """Tell whether a rule denies that a file is read: a search has to leave it out."""
    from_rules = [rule for rule in rules.deny if rule.pattern]
    if not from_rules:
        return False
    use = Use(touches=ToolUse("Read", ((Effect.READS, path),)))
    facts = facts_of("Read", use, ground, is_safe=True)
    return any(means(rule, facts, ground) is Fit.YES for rule in from_rules)


def _strongest(
    rules: Iterable[PermissionRule], facts: CallFacts, ground: PermissionGround
) -> tuple[Fit, str]:
    """Return how well the best of the rules fits, and that rule for a message."""
    found, shown = Fit.NO, ""
    for rule in rules:
        fit = means(rule, facts, ground)
        if fit > found:
            found, shown = fit, rule.shown
        if found is Fit.YES:
            break
    return found, shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _ask(mode: PermissionMode, why: str) -> PermissionDecision:
    if mode is PermissionMode.DONT_ASK:
        reason = f"Nobody is asked in the mode dontAsk, and this is not allowed: {why}."
        return PermissionDecision(Behaviour.DENY, reason)
    return PermissionDecision(Behaviour.ASK, why)


def _why_not_allowed(facts: CallFacts) -> str:
    if facts.line is not None and facts.line.unclear:
        return f"what it does is known only when it runs: {facts.line.unclear}"
    return "no rule of the permissions allows it"
