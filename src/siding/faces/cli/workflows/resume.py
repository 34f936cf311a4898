"""Go on with a run of a workflow: what is recorded is not run again.

Agents that failed are run again, those that were at work when the run was cut off go on with their
conversation where they can. With an edited script (`--script`) calls that did not change are taken
from the record; a changed one and what follows it in its lane are made anew, and it is said why.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.workflows.run import allow, carry_out_and_tell, tokens_in
from siding.ground.errors import SidingError, UsageError
from siding.record.place.project import Project, require_project
from siding.workflows.acts.request import ResumeRequest
from siding.workflows.acts.run import called_again, interrupted, policy_from_words, prepare_again


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", metavar="RUN", help="an id, or last")
    parser.add_argument("--all", action="store_true", help="all runs that were interrupted")
    parser.add_argument("--script", metavar="FILE", help="with this script in the place of the old")
    parser.add_argument("--anew", action="store_true", help="run every agent again")
    parser.add_argument("--agents", metavar="IDS", help="run these again, too: 2,5 or 3-7")
    parser.add_argument(
        "--rerun-lost", action="store_true", help="go on though lines of the journal are lost"
    )
    parser.add_argument("--trust", action="store_true", help="allow what its script calls, as is")
    parser.add_argument("--budget", metavar="TOKENS", help="what all may write now: 500k, 2M")
    parser.add_argument("--dollars", type=float, metavar="N", help="what all may cost now")
    parser.add_argument("-d", "--detach", action="store_true", help="go on in the background")


def run(arguments: Namespace, context: Context) -> int:
    if (arguments.run is None) == (not arguments.all):
        raise UsageError("name one run, or --all", hint="`siding workflow list` shows the runs")
    project = require_project(context.app)
    if arguments.trust and arguments.run is not None:
        source = _read(context, arguments.script) if arguments.script else None
        allow(context, project, called_again(project, arguments.run, source), is_allowed=True)
    policy = policy_from_words(anew=arguments.anew, agents=arguments.agents)
    source = None if arguments.script is None else _read(context, arguments.script)
    request = ResumeRequest(
        policy=policy,
        source=source,
        tokens=tokens_in(arguments.budget),
        dollars=arguments.dollars,
        reruns_lost=arguments.rerun_lost,
    )
    if arguments.all:
        return _resume_all(context, project, request)
    prepared = prepare_again(project, arguments.run, request)
    return carry_out_and_tell(context, project, prepared, detach=arguments.detach)


def _resume_all(context: Context, project: Project, request: ResumeRequest) -> int:
    """Go on with each run that was interrupted, in the background. One that cannot is named."""
    runs = interrupted(project)
    if not runs:
        context.screen.note("no run was interrupted")
    worst = 0
    for run_id in runs:
        try:
            prepared = prepare_again(project, run_id, request)
            status = carry_out_and_tell(context, project, prepared, detach=True)
        except (SidingError, OSError) as error:
            context.screen.warn(f"the run {run_id} is not resumed: {inert(str(error))}")
            status = 1
        worst = max(worst, status)
    return worst


def _read(context: Context, path: str) -> str:
    try:
        return Path(context.app.cwd / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SidingError(f"{path!r} cannot be read: {error}") from None
