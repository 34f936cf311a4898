"""The scripts of workflows: found by name, in a file or inline; a new one; the guide to them.

A name is looked for in the repository, in Siding's home, and among those that come with Siding, in
this order, so a repository may have a `review` of its own. Scripts of the predecessor (JavaScript
in ``.claude/workflows``) are found, too, to say why they cannot be run.
"""

import ast
from collections.abc import Collection, Iterator
from contextlib import suppress
from enum import StrEnum
from importlib.resources import files
from pathlib import Path, PurePosixPath
from posixpath import normpath

from siding.ground.errors import SidingError, UsageError
from siding.ground.files.durable import create_bytes, make_dirs
from siding.ground.files.regular import read_bytes
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.workflows.errors import ScriptError, WorkflowNotFound
from siding.workflows.script import MAX_SOURCE_BYTES, Script, read_script

IN_REPOSITORY = Path(".siding/workflows")
OF_PREDECESSOR = Path(".claude/workflows")
JAVASCRIPT = (".js", ".mjs", ".ts")
_TEMPLATE = '''\
"""{name}: what it is for."""

meta = {{
    "name": "{name}",
    "description": "Say in a line what it does",
    "phases": [{{"title": "Look"}}, {{"title": "Sum up"}}],
}}

# The names agent, parallel, pipeline, phase, log, workflow, ask, sleep, run, bring_back, args and
# budget are there.
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


class Origin(StrEnum):
    """Where a script comes from. Only a repository's needs a person's trust."""

    REPOSITORY = "repository"
    HOME = "home"
    SHIPPED = "shipped"
    FILE = "file"
    INLINE = "inline"


class FoundScript(NamedTuple):
    """A script that was found; it may be one that cannot be run."""

    name: str
    origin: Origin
    path: str
    source: str

    @property
    def digest(self) -> str:
        return sha256_hex(self.source.encode())

    def script(self) -> Script:
        """Return the script. Raises ScriptError."""
        return read_script(self.source)


def named(project: Project, name: str) -> FoundScript:
    """Return the workflow with this name. Raises WorkflowNotFound, ScriptError for a bad name."""
    if sanitize_workflow_name(name) is None:
        raise ScriptError(
            f"{name!r} is an invalid name of a workflow",
            hint="it is the name of a file without .py",
        )
    for origin, directory in _places(project):
        path = directory / f"{name}.py"
        with suppress(FileNotFoundError):
            source = read_bytes(path, limit=MAX_SOURCE_BYTES).decode()
            return FoundScript(name=name, origin=origin, path=str(path), source=source)
    raise WorkflowNotFound(f'the workflow "{name}" not found', hint=_hint(project, name))


def at(project: Project, path: str, *, anywhere: bool) -> FoundScript:
    """Return the script in a file.

    It may lie `anywhere` if a person names it, who means just this file; else it lies in the
    project, and is the repository's. Raises WorkflowNotFound, and ScriptError for a path outside.
    """
    whole = (project.app.cwd / path).resolve()
    inside = any(contains_path(str(root), str(whole)) for root in _roots(project))
    if not inside and not anywhere:
        raise ScriptError(
            f"the script {path!r} is out of bounds: it lies outside the project",
            hint="a script that is named by its path lies in the repository or a workspace of it",
        )
    try:
        source = read_bytes(whole, limit=MAX_SOURCE_BYTES).decode()
    except FileNotFoundError:
        raise WorkflowNotFound(f"no such file: {path!r}") from None
    except UnicodeDecodeError:
        raise ScriptError(f"{path!r} is not UTF-8") from None
    if whole.suffix in JAVASCRIPT:
        raise _predecessor(whole)
    origin = Origin.FILE if anywhere else Origin.REPOSITORY
    return FoundScript(name=whole.stem, origin=origin, path=str(whole), source=source)


def inline(source: str) -> FoundScript:
    """Return a script that was given as text."""
    return FoundScript(name="", origin=Origin.INLINE, path="", source=source)


def listed(project: Project) -> Iterator[FoundScript]:
    """Yield every workflow that has a name, each name once, sorted."""
    found: dict[str, FoundScript] = {}
    for _origin, directory in _places(project):
        for name in _names_in(directory, ".py"):
            if name not in found:
                with suppress(SidingError, OSError, UnicodeDecodeError):
                    found[name] = named(project, name)
    for name in sorted(found):
        yield found[name]


def arguments_in(source: str) -> tuple[str, ...]:
    """Return the names that a script looks up in `args`, or in what it calls that, in their order.

    A script that cannot be parsed has none.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ()
    known = {"args"}
    found: dict[tuple[int, int], str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            taken = [node.value] if not isinstance(node.value, ast.BoolOp) else node.value.values
            if any(isinstance(each, ast.Name) and each.id in known for each in taken):
                known.add(node.targets[0].id)
        name = _looked_up(node, known)
        if name is not None and isinstance(node, ast.expr):
            found[node.lineno, node.col_offset] = name
    return tuple(dict.fromkeys(found[place] for place in sorted(found)))


def _looked_up(node: ast.AST, known: Collection[str]) -> str | None:
    """Return the text by which an expression looks something up in one of these names."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))):
            return key if name in known else None
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name), attr="get"),
            args=[ast.Constant(value=str(key)), *_],
        ):
            return key if name in known else None
    return None


def predecessors(project: Project) -> list[Path]:
    """Return the JavaScript workflows of the repository."""
    return [
        root / OF_PREDECESSOR / f"{name}{suffix}"
        for root in _roots(project)
        for suffix in JAVASCRIPT
        for name in _names_in(root / OF_PREDECESSOR, suffix)
    ]


def home_directory(project: Project) -> Path:
    """Return where the person's own workflows are."""
    return project.app.home.root / "workflows"


def repository_directory(project: Project) -> Path:
    """Return where the repository's workflows are, in the tree that one stands in."""
    return _roots(project)[0] / IN_REPOSITORY


def _places(project: Project) -> Iterator[tuple[Origin, Path]]:
    for root in _roots(project):
        yield Origin.REPOSITORY, root / IN_REPOSITORY
    yield Origin.HOME, home_directory(project)
    yield Origin.SHIPPED, Path(str(files("siding.workflows"))) / "shipped"


def _roots(project: Project) -> list[Path]:
    """Return the tree that one stands in, then the main checkout."""
    roots = [project.paths.worktree, project.paths.main_worktree]
    return list(dict.fromkeys(root.resolve() for root in roots if root is not None))


def _names_in(directory: Path, suffix: str) -> list[str]:
    try:
        names = sorted(path.name for path in directory.iterdir())
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
    return [
        name.removesuffix(suffix)
        for name in names
        if name.endswith(suffix) and sanitize_workflow_name(name.removesuffix(suffix))
    ]


def _hint(project: Project, name: str) -> str:
    for path in predecessors(project):
        if path.stem == name:
            return f"{_predecessor(path).message}; `siding workflow convert {path}` shows how"
    known = ", ".join(found.name for found in listed(project))
    return f"there are: {known}. `siding workflow new {name}` begins one"


def _predecessor(path: Path) -> ScriptError:
    return ScriptError(
        f"{path.name} is a JavaScript workflow, and Siding's are Python",
        hint=f"`siding workflow convert {path}` writes the Python form",
    )


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


def guide() -> str:
    """Return the guide, in Markdown."""
    return (files("siding.workflows") / "GUIDE.md").read_text(encoding="utf-8")


def sanitize_workflow_name(name: str) -> str | None:
    """Return the name if it can be that of a workflow: one entry of a directory; else None."""
    if not name or name in {".", ".."} or any(letter in name for letter in "/\\\0"):
        return None
    return name if name.isprintable() and not name.startswith("-") else None


def contains_path(directory: str, path: str) -> bool:
    """Tell whether a path, taken from `directory`, names it or lies within it. Reads no disk."""
    root = normpath(directory)
    whole = normpath(PurePosixPath(root, path).as_posix())
    return whole == root or whole.startswith(root.rstrip("/") + "/")
