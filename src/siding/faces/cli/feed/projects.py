"""The verbs about projects: which there are, and making one."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago
from siding.faces.cli.verb import Verb

if TYPE_CHECKING:
    from siding.feed.projects import ProjectRow


STATES = {"there": "", "gone": "gone", "another": "another repository is there now"}


def _projects_options(parser: ArgumentParser) -> None:
    add_format(parser, "table", "json")


def _projects(arguments: Namespace, context: Context) -> int:
    from siding.feed.projects import project_rows

    rows = project_rows(context.app)
    if arguments.format == "json":
        print_json(context.screen, [row._asdict() for row in rows])
        return 0
    if not rows:
        context.screen.note("no project yet; `siding run -- COMMAND` in a repository makes one")
        return 0
    header = ("", "NAME", "REPOSITORY", "TASKS", "UPDATED", "")
    print_table(context.screen, header, [_projects_cells(row) for row in rows])
    return 0


PROJECTS = Verb(
    """\
Show the projects, and where their repositories are. `*` marks the one you stand in.

`--project NAME`, before or after any verb, works in one of them, wherever you stand. One whose
repository is gone, or whose path another one took, can still be read: its tasks, log and steps.
""",
    _projects_options,
    _projects,
)


def _projects_cells(row: ProjectRow) -> tuple[str, ...]:
    return (
        "*" if row.here else "",
        row.name,
        row.repository or "-",
        f"{row.open_tasks} open of {row.tasks}" if row.tasks else "-",
        ago(row.updated_at) if row.updated_at else "-",
        STATES.get(row.state, row.state),
    )


def _init_options(parser: ArgumentParser) -> None:
    # Other tools begin a project anew with it. Here it is the same again: nothing is lost.
    parser.add_argument("--force", action="store_true", help=SUPPRESS)


def _init(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import ensure_project

    del arguments
    project, made = ensure_project(context.app)
    word = "made a project of" if made else "is a project already:"
    context.screen.note(f"{word} {project.paths.root}")
    context.screen.note(f"  its records are in {project.layout.root}")
    return 0


INIT = Verb(
    """\
Make this repository a project. Other commands do it on first use.

Running it again changes nothing.
""",
    _init_options,
    _init,
)
