"""The house without one of the features at its top: the rest stands.

The folder is taken away from a copy, with its verbs, its pages and whoever imports it at the top of
a module. What is left imports, prints its help, records, goes back and applies; and what lies below
passes its tests.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools.house.graph import graph_of
from tools.house.imports import Kind
from tools.house.source import CHECKOUT, read_package

from sandbox import Sandbox
from unit.house.test_taken_out import KNOWN_BY

BELOW = ("tests/unit/phases", "tests/unit/tasks")
IMPORTS = (
    "import importlib, sys; [importlib.import_module(each) for each in sys.stdin.read().split()]"
)
DAY = ("status", "run -- touch made", "log", "undo", "redo", "apply --no-close", "rollback --base")


def copied_without(feature: str, source: Path) -> list[str]:
    """Make a copy of the product without a feature; return the modules that it has."""
    shutil.copytree(CHECKOUT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    package = read_package(CHECKOUT / "src/siding")
    own = re.compile(rf"siding(\.faces\.\w+)?\.{feature}(\.|$)")
    gone = {name for name in package.modules if own.match(name)}
    needs = graph_of(package).next_to({Kind.TOP})
    while more := {name for name in set(needs) - gone if gone & set(needs[name])}:
        gone |= more
    for name in gone:
        (source / package.modules[name].path.relative_to(CHECKOUT / "src")).unlink()
    shutil.rmtree(source / "siding" / feature)
    assert len(gone) < len(package.modules) / 3
    return sorted(set(package.modules) - gone - {"siding.__main__"})


@pytest.mark.timeout(600)
@pytest.mark.parametrize("feature", KNOWN_BY)
def test_the_rest_stands_without_it(feature: str, sandbox: Sandbox, tmp_path: Path) -> None:
    source = tmp_path / "source"
    left = copied_without(feature, source)
    env = {**sandbox.env, "PYTHONPATH": str(source)}
    env.pop("SIDING_PROVE", None)  # of what lies below, as much as the suite tries

    def python(*words: str, cwd: Path, given: str = "") -> str:
        argv = [sys.executable, *words]
        done = subprocess.run(
            argv, cwd=cwd, env=env, input=given, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-4000:])
        return done.stdout

    assert len(left) > 500
    where = "import siding; print(siding.__file__)"
    assert python("-c", where, cwd=sandbox.repo).startswith(str(source))
    python("-c", IMPORTS, cwd=sandbox.repo, given=" ".join(left))
    assert "apply" in python("-m", "siding", "--help", cwd=sandbox.repo)
    python("-m", "siding", "task", "start", "work", cwd=sandbox.repo)
    for command in DAY:
        python("-m", "siding", *command.split(), cwd=sandbox.repo)
    python("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *BELOW, cwd=CHECKOUT)
