"""The rules of the learned format, case by case; see `casebook` for what a case is.

``SIDING_TRANSCRIPT_CASES`` may name more directories of cases, separated by ``:``.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from .casebook import load_cases, run_case

OURS = Path(__file__).with_name("cases.jsonl")
SOURCES = [OURS, *map(Path, filter(None, os.environ.get("SIDING_TRANSCRIPT_CASES", "").split(":")))]
CASES = [case for source in SOURCES for case in load_cases(source)]


def test_there_are_cases() -> None:
    assert len(CASES) >= 59


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    verdict = run_case(case, tmp_path)
    assert verdict.got == verdict.wanted, verdict.title
