"""The house rules that a linter does not know: sizes, start-up imports, names of rooms."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from planted.mistakes import MISTAKES
from unit.verb_imports import imports_of

SOURCE = Path(__file__).parents[2] / "src" / "siding"
FILES = sorted(SOURCE.rglob("*.py"))
ROOMS = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
BELOW = {"ground", "agents", "shellguard", "secretmask"}  # they know no steps

LONGEST_FILE = 500
LONGEST_FUNCTION = 70

# What a command may load. Everything else costs a person time at every start.
HEAVY = {
    "asyncio",
    "ctypes",
    "dataclasses",
    "email",
    "http",
    "importlib.metadata",
    "inspect",
    "logging",
    "msgspec",
    "multiprocessing",
    "pdb",
    "pkg_resources",
    "rich",
    "socket",
    "sqlite3",
    "ssl",
    "tree_sitter",
    "unittest",
    "urllib.request",
    "uuid",
    "yaml",
}


def test_files_and_functions_stay_small() -> None:
    too_long = [each for path in FILES for each in _too_long(path)]
    assert FILES
    assert not too_long, "\n".join(too_long)


def _too_long(path: Path) -> Iterator[str]:
    name, text = path.relative_to(SOURCE), path.read_text(encoding="utf-8")
    if (lines := len(text.splitlines())) > LONGEST_FILE:
        yield f"{name} has {lines} lines"
    if lines <= LONGEST_FUNCTION:
        return  # so no function is longer
    for function, lines in _functions(ast.parse(text)):
        if lines > LONGEST_FUNCTION:
            yield f"{name}: {function} has {lines} lines"


def _functions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            continue  # it holds no function with a name
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            first = body[0].lineno if body else node.lineno
            yield node.name, (node.end_lineno or first) - first + 1
        yield from _functions(node)


def test_layout_is_the_formatters() -> None:
    assert [path for path in FILES if "fmt: " in path.read_text(encoding="utf-8")] == []


def test_named_tuples_are_ours() -> None:
    """One of the standard library's costs every command that loads it 130 µs."""
    theirs = re.compile(r"from typing import [^()\n]*?\bNamedTuple|\btyping\.Named|namedtuple\(")
    found = [path for path in FILES if theirs.search(path.read_text(encoding="utf-8"))]
    assert found == [SOURCE / "ground/namedtuples.py"]


def test_only_the_ledger_knows_the_fields_of_a_line() -> None:
    """Outside it a step is asked: `step.as_run.cwd`, not ``step.line["cwd"]``."""
    by_key = re.compile(r"\.(?:line|record)(?:\[|\.get\()|as_record\(\)(?:\[|\.get\()")
    found = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in FILES
        if path.relative_to(SOURCE).parts[0] not in BELOW
        and path.relative_to(SOURCE).parts[:2] != ("record", "ledger")
        for line in path.read_text("utf-8").splitlines()
        if by_key.search(line)
    ]
    assert found == []


def test_the_layout_is_the_formatters() -> None:
    root = SOURCE.parents[1]
    ours = [
        path
        for room in ("src", "tests", "benchmarks", "prove", "examples", "tools")
        for path in (root / room).rglob("*.py")
    ]
    packed = [str(path) for path in ours if "# fmt:" + " skip" in path.read_text("utf-8")]
    assert packed == []


def test_there_is_one_way_into_a_ledger() -> None:
    """One caller writes intents, one appends lines, and nobody has a recorder of their own."""

    def callers(call: str) -> list[str]:
        return [str(p.relative_to(SOURCE)) for p in FILES for _ in re.findall(call, p.read_text())]

    assert callers(r"\bintents\.write\(") == ["record/recording/recorder.py"]
    assert callers(r"\bledger\.append\(") == ["record/recording/recorder.py"]
    assert callers(r"^class \w+\(.*\bRecorder\b") == []


def test_the_page_about_the_house_shows_the_house() -> None:
    page = (SOURCE.parents[1] / "docs/architecture.md").read_text("utf-8")
    named = set(re.findall(rf"\b((?:{'|'.join(ROOMS)})/[\w/]+\.py)", page))
    assert len(named) > 20
    assert sorted(name for name in named if not (SOURCE / name).is_file()) == []
    shown = page[page.index("```") : page.index("```", page.index("```") + 3)]
    assert set(re.findall(r"\b(\w+)/", shown)) == ROOMS | {"cli", "web"}
    record = {path.parent.name for path in (SOURCE / "record").glob("*/__init__.py")}
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == record


def test_no_room_is_a_drawer() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "core", "manager", "service"}
    assert not drawers & {path.stem for path in FILES}


def test_each_room_that_owns_files_describes_them() -> None:
    """Such a room has a module `store`; `storage` says what holds for the files of all."""
    rooms = {path.parent for path in SOURCE.rglob("store.py")} | {SOURCE / "ground/storage"}
    assert len(rooms) > 5
    bare = {
        str(room.relative_to(SOURCE))
        for room in rooms
        if not any((place / "FORMAT.md").is_file() for place in (room, room.parent))
    }
    assert bare == set()


# How the product would know of its tests. A policy judges two of the variables of pytest.
OF_TESTS = re.compile(
    r"SIDING_TEST|SIDING_FAULTS|PLANTED_MISTAKE|PYTEST_(?!ADDOPTS|PLUGINS)|\bfaults\.|sitecustomize"
    r"|^ *(?:from|import) +(?:tests|planted|faults|pytest|unittest|siding\.ground\.storage\.faults)"
    rf"|[\"'](?:{'|'.join(MISTAKES)})[\"']"
)


def test_the_product_knows_nothing_of_its_tests() -> None:
    """No switch, no planted mistake, no variable: whoever may start Siding could set it."""
    told = [
        f"{path.relative_to(SOURCE)}:{number}: {line.strip()}"
        for path in FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if OF_TESTS.search(line)
    ]
    assert not told, "\n".join(told)


# What a verb imports for few of its calls.
RARE = {
    "show": {"siding.running.attach"},  # the screens of programs that draw
    "status": {"siding.faces.cli.telling.whole_feed"},  # with --all: the hub of the feed
}


def test_the_version_loads_nothing() -> None:
    loaded = _loaded(["--version"])
    assert {name for name in loaded if name.startswith("siding.")} == {
        "siding.faces",
        "siding.faces.cli",
        "siding.faces.cli.main",
    }
    assert not loaded & {"argparse", "subprocess", "pathlib", "json", *HEAVY}


@pytest.mark.parametrize(
    "verb",
    [
        "status",
        "log",
        "task list",
        "worktree list",
        "show",
        "decide list",
        "decide show",
        "inbox",
        "phase status",
        "phase list",
    ],
)
def test_reading_commands_load_nothing_heavy(verb: str) -> None:
    parts = imports_of(verb) - RARE.get(verb, set())
    assert parts, "what carries the verb out"
    script = f"import sys\nimport {', '.join(sorted(parts))}\nprint('LOADED', *sys.modules)"
    assert not _printed(script) & HEAVY


def _loaded(arguments: list[str]) -> set[str]:
    script = (
        "import sys\nfrom siding.faces.cli.main import main\n"
        f"status = main({arguments!r})\nprint('LOADED', *sys.modules)\nsys.exit(status)"
    )
    return _printed(script)


def _printed(script: str) -> set[str]:
    """Return the modules that a script prints."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True, timeout=30
    )
    (line,) = [each for each in done.stdout.splitlines() if each.startswith("LOADED")]
    return set(line.split()[1:])
