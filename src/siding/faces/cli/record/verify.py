"""Check that a task's record is whole: ledger lines, hash chain, anchor, artifacts and snapshots.

Exits with 1 when something is not as it was written. The head it prints can be noted elsewhere:
with --head, everything up to it is proven unchanged.
"""

import re
from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.options import add_task_word
from siding.faces.cli.screen.screen import inert
from siding.ground.errors import UsageError, counted


def add_arguments(parser: ArgumentParser) -> None:
    add_task_word(parser)
    parser.add_argument(
        "--head", metavar="HASH", help="a head noted earlier, which the ledger must still have"
    )
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.record.recording.verify import verify

    project = require_project(context.app)
    head = _hash(arguments.head)
    proof = verify(project, arguments.task, head=head)
    screen = context.screen
    if arguments.format == "json":
        record = proof._asdict()
        record["task"] = proof.task.id
        record["findings"] = [finding._asdict() for finding in proof.findings]
        print_json(screen, {**record, "whole": proof.whole})
        return 0 if proof.whole else 1
    for finding in proof.findings:
        mark = screen.style("BAD ", "red") if finding.serious else screen.style("note", "yellow")
        screen.print(f"{mark}  {inert(finding.where)}: {inert(finding.problem)}")
    looked = (
        f"{counted(proof.steps, 'step')} ({proof.chained} chained), "
        f"{counted(proof.artifacts, 'artifact')}, {counted(proof.snapshots, 'snapshot')}"
    )
    if proof.freed:
        looked += f", {proof.freed} freed by `siding gc`"
    if proof.patches_freed:
        looked += f", {counted(proof.patches_freed, 'patch', 'patches')} freed"
    verdict = screen.style("whole", "green") if proof.whole else screen.style("damaged", "red")
    screen.print(f"task {proof.task.id} is {verdict}: {looked}")
    if proof.since is not None and proof.whole:
        later = f"; since then: {counted(proof.since, 'step')}" if proof.since else ""
        screen.print(f"it is unchanged up to the head {head}{later}")
    if proof.head is not None:
        screen.print(f"head {proof.head}")
    return 0 if proof.whole else 1


def _hash(given: str | None) -> str:
    """Return the hash as it is written in records; "" if none was given."""
    if given is None:
        return ""
    if not re.fullmatch("[0-9a-fA-F]{64}", given.strip()):
        raise UsageError(
            f"{given!r} is no head: that is 64 hexadecimal digits",
            hint="`siding verify` prints the present one; note all of it",
        )
    return given.strip().lower()
