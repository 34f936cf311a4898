"""The place every line of the tests is judged in."""

from siding.agents.table import BY_PROGRAM, OBEYED, PORTS
from siding.shellguard.agents import KnownAgents
from siding.shellguard.engine import check_argv, check_line
from siding.shellguard.paths import JudgingPlace
from siding.shellguard.policy import Policy
from siding.shellguard.verdict import Verdict

PLACE = JudgingPlace(
    cwd="/repos/proj",
    workspace="/repos/proj",
    home="/home/dev",
    agents=KnownAgents(programs=frozenset(BY_PROGRAM), obeyed=OBEYED, ports=PORTS),
    state="/home/dev/.siding",
)


def judged(line: str, policy: Policy | None = None) -> Verdict:
    """Return the verdict for a line of shell."""
    return check_line(line, PLACE, policy or Policy())


def judged_words(*words: str, policy: Policy | None = None) -> Verdict:
    """Return the verdict for an argument list."""
    return check_argv(words, PLACE, policy or Policy())


def rules_of(verdict: Verdict) -> set[str]:
    """Return the names of the rules that matched."""
    return {finding.rule for finding in verdict.findings}
