"""The policy engine: it takes a command line, an argument list or the call of a tool and returns a
verdict.

The engine runs nothing and reads no file. It looks at the disk only through the functions of
`JudgingPlace`: `resolve` follows links, `exists` looks for a file, `entries` finds the directories
and links in a directory.
"""

from collections.abc import Callable, Mapping, Sequence

from siding.ground.hashing import sha256_hex
from siding.shellguard.budget import LONGEST_LINE, Budget, TooMuch
from siding.shellguard.effects import LONGEST_SHOWN, odd_characters
from siding.shellguard.examiner import Examiner, Judges
from siding.shellguard.fields import ANYTHING, MARKS, NOTHING, shown_words
from siding.shellguard.paths import JudgingPlace
from siding.shellguard.programs import judge, known_program
from siding.shellguard.programs.variables import judge_variable
from siding.shellguard.rules import POLICY_BROKEN, RuleSet
from siding.shellguard.state import Call, ShellState
from siding.shellguard.tool_use import (
    Effect,
    ToolUse,
    is_harmless_input,
    lines_for_shell,
)
from siding.shellguard.verdict import Action, CommandPart, RuleFinding, Verdict, verdict_of
from siding.shellguard.words import NotUnderstood

LONGEST_NAME = 100  # characters of a line that is too long to show
NO_VARIABLES: Mapping[str, str] = {}
BUILT_IN_ONLY = RuleSet()
JUDGES = Judges(judge=judge, known=known_program, variable=judge_variable)


def check_line(
    text: str,
    place: JudgingPlace,
    policy: RuleSet = BUILT_IN_ONLY,
    env: Mapping[str, str] = NO_VARIABLES,
    budget: Budget | None = None,
) -> Verdict:
    """Judge a line of shell, such as an agent's tool call or a hook.

    `env` holds the values of variables that are known before the line runs. Pass a `budget` to
    read afterwards how much work the verdict took.
    """
    if policy.broken:
        return _broken(policy, text)
    examiner = Examiner(policy, place, env, JUDGES, budget)
    _guarded(examiner, text, lambda: _whole_line(examiner, text))
    return _verdict(examiner, policy, text)


def check_argv(
    argv: Sequence[str],
    place: JudgingPlace,
    policy: RuleSet = BUILT_IN_ONLY,
    env: Mapping[str, str] = NO_VARIABLES,
) -> Verdict:
    """Judge a program with its arguments, as in ``siding run -- CMD ARGS``.

    The words are taken literally; they are read as shell only if the program is a shell.
    """
    words = tuple(argv)
    long = len(words) + sum(map(len, words)) > LONGEST_LINE
    text = " ".join(words) if long else shown_words(words)
    if policy.broken:
        return _broken(policy, text)
    examiner = Examiner(policy, place, env, JUDGES)
    _guarded(examiner, text, lambda: _words(examiner, words, text))
    return _verdict(examiner, policy, text)


def check_tool(
    use: ToolUse,
    place: JudgingPlace,
    policy: RuleSet = BUILT_IN_ONLY,
    env: Mapping[str, str] = NO_VARIABLES,
) -> Verdict:
    """Judge the call of a tool by what it does, as a command that does so."""
    if policy.broken:
        return _broken(policy, use.text)
    examiner = Examiner(policy, place, env, JUDGES)
    _guarded(examiner, use.text, lambda: _touches(examiner, use))
    return _verdict(examiner, policy, use.text)


def _touches(examiner: Examiner, use: ToolUse) -> None:
    _not_too_long(sum(len(what) for _, what in use.touches))
    state = examiner.new_state()
    for effect, what in use.touches:
        if effect is Effect.RUNS:
            _whole_line(examiner, what)
            continue
        if effect is Effect.TYPES:
            _typed(examiner, use, what)
            continue
        # An answer that is kept, and a rule of the project, are about an unknown tool as a whole.
        text = use.name if effect is Effect.UNKNOWN else f"{use.name} {what}"
        with examiner.part(text[:LONGEST_SHOWN]):
            if effect in _RULES:
                examiner.project_rules(text, (use.name,))
                examiner.found(_RULES[effect], what[:LONGEST_SHOWN] or use.name)
                continue
            problem = odd_characters(what)
            if problem or any(mark in what for mark in MARKS):
                examiner.found("odd-characters", problem or "a control character")
                continue
            examiner.project_rules(text, (use.name, what))
            _touch(examiner, effect, what, state)


# What a tool does that no command line says -> the rule that is asked about it.
_RULES: Mapping[Effect, str] = {
    Effect.LEAVES: "write-outside",
    Effect.SCHEDULES: "schedule",
    Effect.STEERS: "steer-agents",
    Effect.SCRIPTS: "code-unclear",
    Effect.UNKNOWN: "unknown-tool",
}


def _typed(examiner: Examiner, use: ToolUse, text: str) -> None:
    """Judge text that is typed into a program which runs already.

    Lines for a shell are judged as lines. Many another program starts a shell by its keys (`:!` in
    vim, `!` in less), so what is typed into it is a question, unless it can only answer one.
    """
    if is_harmless_input(text):
        return
    _not_too_long(len(text))
    lines = lines_for_shell(use.into, text)
    if lines is not None:
        state = examiner.new_state()
        for line in lines:
            examiner.line(line, state)
        examiner.uncalled()
        return
    with examiner.part(f"{use.name} {text!r}"[:LONGEST_SHOWN]):
        examiner.project_rules(f"{use.name} {text}", (use.name,))
        examiner.found("code-from-input", f"{text!r} for {use.into or 'a program'}"[:LONGEST_SHOWN])


def _touch(examiner: Examiner, effect: Effect, what: str, state: ShellState) -> None:
    path = what
    if path == "~" or path.startswith("~/"):  # some tools take it for the home, as a shell does
        path = examiner.home + path[1:]
    match effect:
        case Effect.READS:
            examiner.reads(path, state)
        case Effect.WRITES:
            examiner.writes(path, state)
        case Effect.DELETES:
            examiner.deletes(path, state, recursive=True)
        case Effect.FETCHES:
            # So all that is known of addresses counts.
            words = ("curl", "-sSL", "--url", what)
            examiner.call(Call(words=words, state=state, stdin=NOTHING))


def _whole_line(examiner: Examiner, text: str) -> None:
    _not_too_long(len(text))
    if any(mark in text for mark in MARKS):
        examiner.found("odd-characters", "a control character")
        return
    examiner.line(text, examiner.new_state())
    examiner.uncalled()


def _words(examiner: Examiner, words: tuple[str, ...], text: str) -> None:
    if not words or not words[0]:
        examiner.found("not-whole", "no program is named")
        return
    _not_too_long(len(words) + sum(map(len, words)))
    if any(mark in word for word in words for mark in MARKS):
        examiner.found("odd-characters", "a control character")
        return
    with examiner.part(text[:LONGEST_SHOWN]):
        problem = odd_characters(words[0])
        if problem:
            examiner.found("odd-characters", problem)
        examiner.project_rules(text, words)
        examiner.call(Call(words=words, state=examiner.new_state(), stdin=ANYTHING))
    examiner.uncalled()


def _not_too_long(length: int) -> None:
    """Raise TooMuch for a longer line, before any character of it is read."""
    if length > LONGEST_LINE:
        raise TooMuch(f"it is longer than {LONGEST_LINE:,} characters")


def _guarded(examiner: Examiner, text: str, action: Callable[[], None]) -> None:
    """Call `action`; if it cannot finish, record `too-much` for the whole line instead."""
    try:
        _with_room(action)
    except (TooMuch, NotUnderstood, RecursionError) as error:
        examiner.whole(_named(text))
        examiner.found("too-much", str(error) or "nested too deeply")


def _named(text: str) -> str:
    """Return a short text for a line that is too long to show.

    It holds a digest of the whole line, so that an answer remembered for this text applies to
    this line only.
    """
    digest = sha256_hex(text.encode("utf-8", "surrogatepass"))[:12]
    begin = " ".join(text[:LONGEST_NAME].split())
    return f"(the whole line, {len(text):,} characters, sha256 {digest}) {begin}"


def _with_room(action: Callable[[], None]) -> None:
    """Call `action` with enough frame memory for all the calls below it.

    CPython (from 3.11 on) allocates frames in chunks of 16 KiB and frees a chunk as soon
    as it is empty. A loop that calls just across the border of two chunks asks the kernel for
    memory in every turn, and judging a nested line takes six times as long. One frame with a large
    stack makes CPython allocate one large chunk, in which all later frames fit.
    """
    action()


# The stack size belongs to the code object; Python has no other way to ask for a large frame.
_with_room.__code__ = _with_room.__code__.replace(co_stacksize=16_000)


def _verdict(examiner: Examiner, policy: RuleSet, text: str) -> Verdict:
    parts = examiner.parts()
    whole = _matches_whole(policy, text, parts)
    return verdict_of(_answered(part, policy) for part in (*whole, *parts))


def _matches_whole(policy: RuleSet, text: str, parts: tuple[CommandPart, ...]) -> list[CommandPart]:
    """Match the project's rules against the whole line too: a pattern may span several commands."""
    seen = {finding.rule for part in parts for finding in part.findings}
    findings = []
    for rule in policy.rules:
        if rule.pattern is None or rule.name in seen or rule.action is Action.ALLOW:
            continue
        hit = rule.pattern.search(text)
        if hit:
            matched = hit.group()[:LONGEST_SHOWN]
            findings.append(RuleFinding(rule.name, rule.action, matched, rule.reason))
    return (
        [CommandPart(text=text[:LONGEST_SHOWN], via=(), findings=tuple(findings))]
        if findings
        else []
    )


def _answered(part: CommandPart, policy: RuleSet) -> CommandPart:
    """Drop the `ask` findings of a part that one of the project's ``allow`` rules matches whole.

    A `block` finding stays. A part with an expansion or a file name pattern in it is left as it
    is, because it does not show the command that will run.
    """
    if any(mark in part.text for mark in "$`\\*?[{~"):
        return part
    for rule in policy.rules:
        if rule.action is Action.ALLOW and rule.pattern and rule.pattern.fullmatch(part.text):
            kept = tuple(f for f in part.findings if f.action is not Action.ASK)
            note = RuleFinding(rule.name, Action.LOG, part.text, rule.reason)
            return part._replace(findings=(*kept, note))
    return part


def _broken(policy: RuleSet, text: str) -> Verdict:
    finding = RuleFinding(POLICY_BROKEN.name, Action.BLOCK, policy.broken, POLICY_BROKEN.reason)
    return verdict_of([CommandPart(text=text[:LONGEST_SHOWN], via=(), findings=(finding,))])
