"""Find what disagrees: registry, directories, git's own list, cut-off acts, a moved repository.

What can be mended without losing anything is mended; --check only reports. Work is never deleted.
Exits with 1 when something is left that a person has to decide. With --sandbox it starts sandboxes
and tries what they promise; 1 when something that matters does not hold.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import inert
from siding.ground.errors import UsageError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        "--dry-run",
        "--check",
        dest="check",
        action="store_true",
        help="report, and change nothing",
    )
    parser.add_argument(
        "--sandbox", action="store_true", help="only try what sandboxes do on this machine"
    )
    parser.add_argument(
        "--adopt", metavar="PROJECT", help="make this project of the home that of the repository"
    )
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.upkeep.doctor import examine, mend, older_project
    from siding.upkeep.findings import Mended, device_notes, foreign_notes, redaction_notes
    from siding.upkeep.projects import find_or_adopt

    screen = context.screen
    if arguments.sandbox:
        return show_sandbox(arguments, context)
    if arguments.check and arguments.adopt:
        raise UsageError("--check changes nothing, and --adopt does")
    project, notes, older = find_or_adopt(
        context.app, adopt=not arguments.check, named=arguments.adopt
    )
    for note in notes:
        screen.note(note, "yellow")
    findings = [*older_project(project, older), *examine(project)]
    results = (
        [Mended(finding=each, done=None, failed=None) for each in findings]
        if arguments.check
        else list(mend(findings))
    )
    for sentence in (
        *redaction_notes(project),
        *device_notes(project),
        *foreign_notes(project),
    ):
        screen.note(inert(sentence))
    if arguments.format == "json":
        print_json(
            screen,
            [
                {"what": f.what, "advice": f.advice, "done": done, "failed": failed}
                for f, done, failed in results
            ],
        )
    else:
        for finding, done, failed in results:
            screen.print(f"- {inert(finding.what)}")
            screen.print(f"  {screen.style(inert(failed or done or finding.advice), 'dim')}")
        if not results:
            screen.print("everything agrees")
    return 1 if any(done is None for _finding, done, _failed in results) else 0


def show_sandbox(arguments: Namespace, context: Context) -> int:
    """Print each proof; return 1 when one that is needed does not hold."""
    from siding.record.place.project import ensure_project
    from siding.upkeep.sandbox import prove

    project, _made = ensure_project(context.app)
    screen = context.screen
    failed = False
    proofs = []
    for proof in prove(project):
        proofs.append(proof)
        failed = failed or (proof.needed and not proof.holds)
        if arguments.format == "json":
            continue
        colour = "green" if proof.holds else "red" if proof.needed else "yellow"
        mark = screen.style("yes" if proof.holds else "no ", colour)
        detail = screen.style(f"  {inert(proof.detail)}", "dim") if proof.detail else ""
        screen.print(f"{mark}  {proof.what}{detail}")
    if arguments.format == "json":
        print_json(screen, [proof._asdict() for proof in proofs])
    return 1 if failed else 0
