"""The policy engine: a command line or an argument list in, a verdict out. It reads no file and
runs nothing, but for the `resolve` it is given, which follows links.
"""

from collections.abc import Callable, Mapping, Sequence

from siding.hashing import sha256_hex
from siding.policy.budget import LONGEST_LINE, Budget, TooMuch
from siding.policy.effects import LONGEST_SHOWN, odd_characters
from siding.policy.examiner import Call, Examiner, Judges
from siding.policy.fields import ANYTHING, MARKS, shown_words
from siding.policy.paths import Place
from siding.policy.policy import Policy
from siding.policy.programs import judge, known_program
from siding.policy.programs.variables import judge_variable
from siding.policy.rules import POLICY_BROKEN
from siding.policy.verdict import Action, Finding, Part, Verdict, verdict_of
from siding.policy.words import NotUnderstood

LONGEST_NAME = 100  # characters of a line that is too long to show
NO_VARIABLES: Mapping[str, str] = {}
BUILT_IN_ONLY = Policy()
JUDGES = Judges(judge=judge, known=known_program, variable=judge_variable)


def check_line(
    text: str,
    place: Place,
    policy: Policy = BUILT_IN_ONLY,
    env: Mapping[str, str] = NO_VARIABLES,
    budget: Budget | None = None,
) -> Verdict:
    """Judge a line of shell, as an agent's tool call or a hook has it; what it took is counted in
    `budget`."""
    if policy.broken:
        return _broken(policy, text)
    examiner = Examiner(policy, place, env, JUDGES, budget)
    _guarded(examiner, text, lambda: _whole_line(examiner, text))
    return _verdict(examiner, policy, text)


def check_argv(
    argv: Sequence[str],
    place: Place,
    policy: Policy = BUILT_IN_ONLY,
    env: Mapping[str, str] = NO_VARIABLES,
) -> Verdict:
    """Judge a program with its arguments, as ``siding run -- CMD ARGS`` has it: no shell reads it,
    unless the program is one."""
    words = tuple(argv)
    long = len(words) + sum(map(len, words)) > LONGEST_LINE
    text = " ".join(words) if long else shown_words(words)
    if policy.broken:
        return _broken(policy, text)
    examiner = Examiner(policy, place, env, JUDGES)
    _guarded(examiner, text, lambda: _words(examiner, words, text))
    return _verdict(examiner, policy, text)


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
    """Refuse by size before anything is looked at."""
    if length > LONGEST_LINE:
        raise TooMuch(f"it is longer than {LONGEST_LINE:,} characters")


def _guarded(examiner: Examiner, text: str, action: Callable[[], None]) -> None:
    """Whatever cannot be judged to its end is a question."""
    try:
        _with_room(action)
    except (TooMuch, NotUnderstood, RecursionError) as error:
        examiner.whole(_named(text))
        examiner.found("too-much", str(error) or "nested too deeply")


def _named(text: str) -> str:
    """Return a name for a line too long to show: an answer that is remembered is for this one."""
    digest = sha256_hex(text.encode("utf-8", "surrogatepass"))[:12]
    begin = " ".join(text[:LONGEST_NAME].split())
    return f"(the whole line, {len(text):,} characters, sha256 {digest}) {begin}"


def _with_room(action: Callable[[], None]) -> None:
    """Call `action` with room for all the calls below it.

    CPython keeps the frames of calls in pieces of 16 KiB and gives one back as soon as it is empty.
    A loop just at the border of two then asks the kernel for memory in each turn, and a nested line
    takes six times as long. One frame that asks for much has them all in one piece.
    """
    action()


_with_room.__code__ = _with_room.__code__.replace(co_stacksize=16_000)


def _verdict(examiner: Examiner, policy: Policy, text: str) -> Verdict:
    parts = examiner.parts()
    whole = _matches_whole(policy, text, parts)
    return verdict_of(_answered(part, policy) for part in (*whole, *parts))


def _matches_whole(policy: Policy, text: str, parts: tuple[Part, ...]) -> list[Part]:
    """Match the project's rules against the line as a whole as well: before it is taken apart."""
    seen = {finding.rule for part in parts for finding in part.findings}
    findings = []
    for rule in policy.rules:
        if rule.pattern is None or rule.name in seen or rule.action is Action.ALLOW:
            continue
        hit = rule.pattern.search(text)
        if hit:
            matched = hit.group()[:LONGEST_SHOWN]
            findings.append(Finding(rule.name, rule.action, matched, rule.reason))
    return [Part(text=text[:LONGEST_SHOWN], via=(), findings=tuple(findings))] if findings else []


def _answered(part: Part, policy: Policy) -> Part:
    """Let the project's own ``allow`` rules answer questions: never a block, and only for a simple
    command that stands there as it will run."""
    if any(mark in part.text for mark in "$`\\*?[{~"):
        return part
    for rule in policy.rules:
        if rule.action is Action.ALLOW and rule.pattern and rule.pattern.fullmatch(part.text):
            kept = tuple(f for f in part.findings if f.action is not Action.ASK)
            note = Finding(rule.name, Action.LOG, part.text, rule.reason)
            return part._replace(findings=(*kept, note))
    return part


def _broken(policy: Policy, text: str) -> Verdict:
    finding = Finding(POLICY_BROKEN.name, Action.BLOCK, policy.broken, POLICY_BROKEN.reason)
    return verdict_of([Part(text=text[:LONGEST_SHOWN], via=(), findings=(finding,))])
