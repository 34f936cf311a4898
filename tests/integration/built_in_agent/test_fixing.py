"""`siding agent` mends mistakes in projects that are not ours, with a model on loopback.

The projects are installed with the tools of the tests: their code is copied, not kept here.
"""

import json
import shutil
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox

from .fixing_model import FIXED, FixingModel, Mistake

pytestmark = pytest.mark.timeout(600)


def as_installed(package: str, file: str, *versions: str) -> str:
    """Return which of these lines the installed version of a package has."""
    text = Path(sysconfig.get_path("purelib"), package, file).read_text()
    return next(line for line in versions if text.count(line) == 1)


PRERELEASE = as_installed(
    "packaging",
    "version.py",
    "return self._dev is not None or self._pre is not None",
    "return self.dev is not None or self.pre is not None",
)
MISTAKES = (
    Mistake(
        package="iniconfig",
        file="_parse.py",
        near="section_name = line",
        right="line[1:-1]",
        wrong="line[1:]",
        test="""
        from iniconfig import IniConfig
        self.assertEqual(IniConfig("x.ini", data="[a]\\nb = 1\\n")["a"]["b"], "1")
        """,
        edit="line[1:-1]",
    ),
    Mistake(
        package="sortedcontainers",
        file="sorteddict.py",
        near=r"def peekitem\(",
        right="def peekitem(self, index=-1)",
        wrong="def peekitem(self, index=0)",
        test="""
        from sortedcontainers import SortedDict
        self.assertEqual(SortedDict(a=1, b=2).peekitem(), ("b", 2))
        """,
        edit="def peekitem(self, index=-1)",
    ),
    Mistake(
        package="packaging",
        file="version.py",
        near="def is_prerelease",
        right=PRERELEASE,
        wrong=PRERELEASE.replace(" or ", " and "),
        test="""
        from packaging.version import Version
        self.assertTrue(Version("1.0.dev1").is_prerelease)
        self.assertFalse(Version("1.0").is_prerelease)
        """,
        edit=PRERELEASE,
    ),
)


def planted(directory: Path, mistake: Mistake) -> Sandbox:
    """Return a repository of the project, with the mistake, a test, and a task."""
    sandbox = Sandbox(directory, files={"README": f"{mistake.package}\n"})
    package = sandbox.repo / mistake.package
    installed = Path(sysconfig.get_path("purelib"), mistake.package)
    shutil.copytree(installed, package, ignore=shutil.ignore_patterns("__pycache__"))
    path = package / mistake.file
    text = path.read_text()
    assert text.count(mistake.right) == 1
    path.write_text(text.replace(mistake.right, mistake.wrong))
    head = "import unittest\n\n\nclass Test(unittest.TestCase):\n    def test_it(self):\n        "
    (sandbox.repo / "test_it.py").write_text(head + mistake.test.strip() + "\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "theirs")
    sandbox.siding("task", "start", "mend")
    return sandbox


@contextmanager
def answering(mistake: Mistake) -> Iterator[FixingModel]:
    model = FixingModel(mistake)
    try:
        yield model
    finally:
        model.close()


def asked(sandbox: Sandbox, model: FixingModel) -> dict[str, Any]:
    """Ask for the task; return the result."""
    env = {"ANTHROPIC_API_KEY": "a-key", "ANTHROPIC_BASE_URL": model.url}
    words = ["agent", "-p", "mend the failing test", "--output-format", "json"]
    words += ["--permission-mode", "acceptEdits", "--allowed-tools", "Bash"]
    words += ["--model", "anthropic:claude-sonnet-4-5"]
    done = sandbox.siding(*words, env=env, timeout=600)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def changed(sandbox: Sandbox) -> list[str]:
    """Return the lines that git says have changed in the workspace."""
    diff = sandbox.git("diff", "-U0", "main", cwd=sandbox.workspace())
    return [line for line in diff.splitlines() if not line.startswith(("diff ", "index ", "@@"))]


@pytest.mark.parametrize("mistake", MISTAKES, ids=[each.package for each in MISTAKES])
def test_it_is_mended(tmp_path: Path, mistake: Mistake) -> None:
    sandbox = planted(tmp_path.resolve(), mistake)
    with answering(mistake) as model:
        result = asked(sandbox, model)
        assert len(model.requests) == 6
    assert result["result"] == FIXED
    name = f"{mistake.package}/{mistake.file}"
    before, after, gone, come = changed(sandbox)
    assert (before, after) == (f"--- a/{name}", f"+++ b/{name}")
    assert (gone[0], come[0]) == ("-", "+")
    assert mistake.wrong in gone
    assert gone[1:].replace(mistake.wrong, mistake.right) == come[1:]
    turn, _run = sandbox.steps()
    assert turn["diff_stat"]["file_list"] == [name]


def test_a_wrong_edit_fails_the_task(tmp_path: Path) -> None:
    mistake = MISTAKES[0]._replace(edit="line[2:-1]")
    sandbox = planted(tmp_path.resolve(), mistake)
    with answering(mistake) as model:
        result = asked(sandbox, model)
    assert result["result"].startswith("The edit is wrong:")
    assert "FAILED" in result["result"]
