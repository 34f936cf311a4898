"""The house rules that a linter does not know: sizes, start-up imports, names of rooms."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "siding"
FILES = sorted(SOURCE.rglob("*.py"))

LONGEST_FILE = 600
LONGEST_FUNCTION = 70

# What a command may load. Everything else costs a person time at every start.
HEAVY = {
    "asyncio", "ctypes", "dataclasses", "email", "http", "importlib.metadata", "inspect", "logging",
    "msgspec", "multiprocessing", "pdb", "pkg_resources", "rich", "socket", "sqlite3", "ssl",
    "tree_sitter", "unittest", "urllib.request", "uuid", "yaml",
}  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_FILE
    for name, lines in _functions(ast.parse(text)):
        assert lines <= LONGEST_FUNCTION, f"{name} has {lines} lines"


def _functions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            first = body[0].lineno if body else node.lineno
            yield node.name, (node.end_lineno or first) - first + 1


def test_no_room_is_a_drawer() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "core", "manager", "service"}
    assert not drawers & {path.stem for path in FILES}


def test_the_version_loads_nothing() -> None:
    loaded = _loaded(["--version"])
    assert {name for name in loaded if name.startswith("siding.")} == {
        "siding.cli",
        "siding.cli.main",
    }
    assert not loaded & {"argparse", "subprocess", "pathlib", "json", *HEAVY}


@pytest.mark.parametrize(
    "verb",
    ["status", "log", "task list", "worktree list", "show", "decide list", "decide show", "inbox",
     "phase status", "phase list"],
)  # fmt: skip
def test_reading_commands_load_nothing_heavy(verb: str) -> None:
    loaded = _loaded([*verb.split(), "--help"])
    assert not loaded & HEAVY


def _loaded(arguments: list[str]) -> set[str]:
    script = (
        "import sys\nfrom siding.cli.main import main\n"
        f"status = main({arguments!r})\nprint('LOADED', *sys.modules)\nsys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True, timeout=30
    )
    (line,) = [each for each in done.stdout.splitlines() if each.startswith("LOADED")]
    return set(line.split()[1:])
