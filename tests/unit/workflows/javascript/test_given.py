"""The given cases, with what their JavaScript is translated into in the place of the Python."""

import json
from pathlib import Path
from typing import Any

import pytest

from siding.workflows.javascript.convert import convert
from siding.workflows.javascript.errors import JavaScriptError
from unit.workflows.mapping import problems_of

HERE = Path(__file__).parent
GIVEN = json.loads((HERE.parent / "given.json").read_text())["engine_cases"]
CASES = {case["id"]: case for case in GIVEN}
JAVASCRIPT = json.loads((HERE / "given_js.json").read_text())["cases"]


@pytest.mark.parametrize("name", sorted(JAVASCRIPT))
def test_a_given_case_from_its_javascript(name: str, tmp_path: Path) -> None:
    case = _translated(CASES[name], JAVASCRIPT[name])
    assert list(problems_of(case, tmp_path)) == []


def _translated(case: dict[str, Any], javascript: dict[str, Any]) -> dict[str, Any]:
    sources = javascript["runs"]
    assert len(sources) == len(case["runs"])
    runs = []
    for run, source in zip(case["runs"], sources, strict=True):
        converted = convert(source, "case.js")
        assert not converted.left
        runs.append({**run, "script_py": converted.source})
    files = {f"{file}.py": _file(source) for file, source in javascript.get("files", {}).items()}
    return {**case, "runs": runs, "files": {**case.get("files", {}), **files}}


def _file(source: str) -> str:
    try:
        return convert(source, "child.js").source
    except JavaScriptError:
        return source  # a child that is broken in both languages
