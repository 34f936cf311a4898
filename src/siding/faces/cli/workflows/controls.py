"""End a run, or an agent of it."""

from argparse import ArgumentParser, Namespace
from functools import partial

from siding.faces.cli.globals import Context
from siding.faces.cli.verb import Verb

_DONE = {"kill": "ended", "skip": "skipped", "retry": "begun again"}


def _verb(do: str, about: str) -> Verb:
    return Verb(about, partial(_add_arguments, do=do), partial(_run, do=do))


def _add_arguments(parser: ArgumentParser, *, do: str) -> None:
    parser.add_argument("run", metavar="RUN", help="an id, the beginning of one, or last")
    if do == "kill":
        parser.add_argument("agent", type=int, nargs="?", metavar="AGENT", help="this agent only")
    else:
        parser.add_argument("agent", type=int, metavar="AGENT", help="the agent's id")


def _run(arguments: Namespace, context: Context, *, do: str) -> int:
    from siding.record.place.project import require_project
    from siding.workflows.acts.control import request
    from siding.workflows.acts.views import run_view

    folder = run_view(require_project(context.app), arguments.run).folder
    hit = request(folder, do, arguments.agent)
    name = f"agent #{arguments.agent}" if arguments.agent is not None else f"run {folder.run_id}"
    if not hit:
        context.screen.warn(f"{name} is not at work")
        return 1
    context.screen.note(f"{name} is {_DONE[do]}", "green")
    return 0


KILL = _verb("kill", "End a run of a workflow with everything it started, or one of its agents.")
SKIP = _verb("skip", "Let a run go on without an agent: the script gets None in its place.")
RETRY = _verb("retry", "End the attempt of an agent that is at work, and let it begin again.")
