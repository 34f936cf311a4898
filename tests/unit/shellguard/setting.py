"""The place every line of the tests is judged in."""

from siding.agents.table import BY_PROGRAM, OBEYED, PORTS
from siding.shellguard.face import JudgingPlace, Policy, Verdict

PLACE = JudgingPlace(
    cwd="/repos/proj",
    workspace="/repos/proj",
    home="/home/dev",
    agents=frozenset(BY_PROGRAM),
    obeyed=OBEYED,
    ports=PORTS,
    state="/home/dev/.siding",
)


def judged(line: str, policy: Policy | None = None) -> Verdict:
    """Return the verdict for a line of shell."""
    return (policy or Policy()).judge(line, PLACE)


def judged_words(*words: str, policy: Policy | None = None) -> Verdict:
    """Return the verdict for an argument list."""
    return (policy or Policy()).judge(words, PLACE)


def rules_of(verdict: Verdict) -> set[str]:
    """Return the names of the rules that matched."""
    return {finding.rule for finding in verdict.findings}
