"""Translate a JavaScript workflow of the predecessor into one of ours, beside it."""

from pathlib import Path

from siding.ground.errors import UsageError
from siding.ground.files.durable import create_bytes, make_dirs
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.workflows.acts.scripts import JAVASCRIPT, repository_directory, sanitize_workflow_name
from siding.workflows.errors import ScriptError, WorkflowNotFound
from siding.workflows.javascript.convert import Converted, convert
from siding.workflows.script import MAX_SOURCE_BYTES, read_script

__all__ = ["Conversion", "conversion", "write_converted"]


class Conversion(NamedTuple):
    """A translated script, the name it gets, and why it cannot be run yet ("" if it can)."""

    name: str
    converted: Converted
    problem: str


def conversion(project: Project, file: str, *, name: str | None) -> Conversion:
    """Translate a file. Raises WorkflowNotFound, UsageError and JavaScriptError."""
    path = project.app.cwd / file
    if path.suffix not in JAVASCRIPT:
        raise UsageError(
            f"{file!r} is no JavaScript workflow", hint=f"it ends in {', '.join(JAVASCRIPT)}"
        )
    called = path.stem if name is None else name.removesuffix(".py")
    if sanitize_workflow_name(called) is None:
        raise UsageError(f"{called!r} is an invalid name of a workflow", hint="-o NAME")
    try:
        source = read_bytes(path, limit=MAX_SOURCE_BYTES).decode()
    except FileNotFoundError:
        raise WorkflowNotFound(f"no such file: {file!r}") from None
    except UnicodeDecodeError:
        raise ScriptError(f"{file!r} is not UTF-8") from None
    converted = convert(source, path.name)
    try:
        read_script(converted.source)
    except ScriptError as error:
        return Conversion(name=called, converted=converted, problem=error.message)
    return Conversion(name=called, converted=converted, problem="")


def write_converted(project: Project, done: Conversion) -> Path:
    """Write the script into the repository's workflows. Raises UsageError if there is one."""
    directory = repository_directory(project)
    path = directory / f"{done.name}.py"
    make_dirs(directory)
    try:
        create_bytes(path, done.converted.source.encode(), mode=0o644)
    except FileExistsError:
        raise UsageError(
            f"there is a workflow {done.name!r} already: {path}",
            hint="-o NAME gives it another name, --show only prints it",
        ) from None
    return path
