"""Cases that were written down for another engine, by the mapping of `mapping.py`."""

import json
from pathlib import Path
from typing import Any

import pytest

from unit.workflows.mapping import problems_of

CASES = json.loads(Path(__file__).with_name("given.json").read_text())["engine_cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_given_case(case: dict[str, Any], tmp_path: Path) -> None:
    assert list(problems_of(case, tmp_path)) == []
