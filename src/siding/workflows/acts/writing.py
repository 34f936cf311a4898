"""Write the script of a new workflow."""

from pathlib import Path

from siding.ground.errors import UsageError
from siding.ground.files.durable import create_bytes, make_dirs
from siding.record.place.project import Project
from siding.workflows.acts.finding import home_directory, named, repository_directory
from siding.workflows.names import sanitize_workflow_name

_TEMPLATE = '''\
"""{name}: what it is for."""

meta = {{
    "name": "{name}",
    "description": "Say in a line what it does",
    "phases": [{{"title": "Look"}}, {{"title": "Sum up"}}],
}}

# The names agent, parallel, pipeline, phase, log, workflow, ask, sleep, args and budget are there.
# A script has no clock, no files and no network: its agents have.


async def main(args):
    phase("Look")
    parts = await parallel(
        [
            lambda: agent("Find bugs in the newest change", label="bugs", isolation="read"),
            lambda: agent("Find slow code in it", label="speed", isolation="read"),
        ]
    )
    phase("Sum up")
    found = "\\n\\n".join(part for part in parts if part)  # a failed agent is None
    return await agent(f"Sum up what was found, the worst first:\\n{{found}}", isolation="read")
'''


def new_workflow(project: Project, name: str, *, home: bool, like: str | None) -> Path:
    """Write a script of this name, and return its path. Raises UsageError if there is one."""
    if sanitize_workflow_name(name) is None:
        raise UsageError(f"{name!r} is an invalid name of a workflow", hint="letters, digits, -")
    directory = home_directory(project) if home else repository_directory(project)
    source = _TEMPLATE.format(name=name) if like is None else named(project, like).source
    path = directory / f"{name}.py"
    make_dirs(directory)
    try:
        create_bytes(path, source.encode(), mode=0o644)
    except FileExistsError:
        raise UsageError(f"there is a workflow {name!r} already: {path}") from None
    return path
