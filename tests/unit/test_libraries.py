"""The libraries in the house: a small face each, which loads nothing, and nobody goes around it."""

import doctest
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from siding.secretmask import face as secretmask
from siding.shellguard import face as shellguard

CHECKOUT = Path(__file__).parents[2]
MOST_NAMES = 8
FACES = (shellguard, secretmask)
IDS = ("shellguard", "secretmask")
# The import contract sees to `src`. Tests of inner parts stand beside those of the library itself.
OUTSIDE = ("benchmarks", "prove", "tests", "tools")
INSIDE = ("tests/unit/shellguard/", "tests/unit/secretmask/")
GOES_AROUND = re.compile(
    r"^\s*(?:from|import) siding\.(?:shellguard|secretmask)\.(?!face\b)", re.MULTILINE
)


@pytest.mark.parametrize("face", FACES, ids=IDS)
def test_a_face_has_few_names_and_all_of_them_are_there(face: ModuleType) -> None:
    assert face.__all__ == sorted(face.MODULE_OF)
    assert len(face.__all__) <= MOST_NAMES
    assert all(getattr(face, name).__doc__ for name in face.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = face.no_such_name


def test_a_face_loads_only_what_is_asked_for() -> None:
    script = (
        "import sys\nfrom siding.shellguard.face import Effect\n"
        "from siding.secretmask.face import is_marked\n"
        "print(*sorted(each for each in sys.modules if each.startswith('siding.')))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.split() == [
        "siding.ground",
        "siding.ground.namedtuples",
        "siding.secretmask",
        "siding.secretmask.face",
        "siding.secretmask.span",
        "siding.shellguard",
        "siding.shellguard.face",
        "siding.shellguard.tool_use",
    ]


def test_tests_and_benchmarks_import_the_faces_alone() -> None:
    around = [
        name
        for top in OUTSIDE
        for path in (CHECKOUT / top).rglob("*.py")
        if not (name := path.relative_to(CHECKOUT).as_posix()).startswith(INSIDE)
        and GOES_AROUND.search(path.read_text(encoding="utf-8"))
    ]
    assert around == []


@pytest.mark.parametrize("face", FACES, ids=IDS)
def test_the_example_of_the_readme_is_true(face: ModuleType) -> None:
    readme = Path(str(face.__file__)).with_name("README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest(example, {}, face.__name__, None, 0)
    said: list[str] = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert (failed, tried > 4) == (0, True), "".join(said)
    names = re.findall(r"^\| `(\w+)`", readme.partition("```")[0], re.MULTILINE)
    assert sorted(names) == face.__all__
