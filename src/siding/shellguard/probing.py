"""Record what a text would do as a command line: another program, or a container, may run it."""

from typing import TYPE_CHECKING

from siding.shellguard.rules import BUILT_IN

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import ShellState


def stopped(examiner: "Examiner", what: str, text: str, state: "ShellState") -> None:
    """Record why `text`, which the program `what` seems to hand to a shell, would not run.

    That the text is not understood is no reason: it may not be for a shell at all.
    """
    parts = examiner.probed(text, state) if text.strip() else ()
    for finding in (f for part in parts or () for f in part.findings):
        if BUILT_IN[finding.rule].group != "unclear":
            examiner.found(finding.rule, f"{what}: {text}")


def reached(examiner: "Examiner", text: str, state: "ShellState") -> None:
    """Record what the command line `text` does beyond the container in which it runs."""
    for finding in (f for part in examiner.probed(text, state) or () for f in part.findings):
        if finding.rule == "print-secret" or BUILT_IN[finding.rule].group == "remote":
            examiner.found(finding.rule, finding.matched)
