"""Work on a run of a workflow, in the background. The broker of a run calls this; nobody else."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.telling.workflow_ends import status_of
from siding.record.place.project import require_project
from siding.workflows.acts.agents import make_agents
from siding.workflows.acts.request import ResumeRequest
from siding.workflows.acts.run import carry_out, prepare_again


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run")
    parser.add_argument("--sandbox", action="store_true")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    prepared = prepare_again(project, arguments.run, ResumeRequest())
    if arguments.sandbox:
        prepared = prepared._replace(options=prepared.options._replace(sandbox=True))
    done = carry_out(project, prepared, make_agents, lambda _event, _state: None)
    return status_of(done)
