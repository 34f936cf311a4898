"""The totals are those of ccusage on the same files; where it counts otherwise, why."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.usage import homes
from sandbox import Sandbox

from .conftest import program

CCUSAGE = program("ccusage")
DAYS = ("2026-01-01", "2026-01-02")

pytestmark = pytest.mark.skipif(
    CCUSAGE is None, reason="ccusage is not installed (run.py test installs it with npm)"
)
Totals = dict[tuple[str, str], tuple[int, int, int, int]]  # day, model -> tokens


@pytest.fixture
def home(sandbox: Sandbox) -> Path:
    return Path(sandbox.env["HOME"])


def theirs(home: Path) -> Totals:
    """Return what ccusage counts: input, cache read, cache write, output."""
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "TZ": "UTC"}
    command = [str(CCUSAGE), "daily", "--json", "--offline"]
    done = subprocess.run(command, env=env, capture_output=True, check=True, timeout=60)
    return {
        (day["period"], each["modelName"]): (
            each["inputTokens"],
            each["cacheReadTokens"],
            each["cacheCreationTokens"],
            each["outputTokens"],
        )
        for day in json.loads(done.stdout)["daily"]
        for each in day["modelBreakdowns"]
    }


def ours(sandbox: Sandbox) -> Totals:
    """Return what we count, a report of each day by model."""
    return {(day, model): tokens for day in DAYS for model, tokens in _of_day(sandbox, day)}


def _of_day(sandbox: Sandbox, day: str) -> Iterator[tuple[str, tuple[int, int, int, int]]]:
    asked = ("--by", "model", "--since", day, "--until", day, "--format", "json")
    for row in sandbox.json("usage", *asked):
        counts = (row["input"], row["cache_read"], row["cache_write"], row["output"])
        yield row["model"], counts


def noon(day: str, second: int) -> str:
    return f"{day}T12:00:{second:02d}.000Z"


def blocks(day: str, second: int, message: str, tokens: int) -> list[dict[str, object]]:
    """Return an answer of three blocks: three lines with the same usage."""
    line = homes.answered(noon(day, second), message, tokens)
    line["message"]["usage"] |= {"cache_read_input_tokens": 30, "cache_creation_input_tokens": 50}
    return [line] * 3


@pytest.fixture
def conversations(home: Path) -> list[dict[str, object]]:
    """Conversations of all clients on two days; return the lines of the one of Claude Code."""
    first, second = DAYS
    lines = [
        homes.asked(noon(first, 1)),
        *blocks(first, 2, "M", 700),
        homes.asked(noon(second, 1)),
        *blocks(second, 2, "N", 11),
    ]
    homes.claude(home, homes.CLAUDE, lines)
    homes.codex(
        home, homes.CODEX, (noon(first, 1), 500, 500), (noon(second, 3), 900, 400), cached=100
    )
    return lines


def test_the_totals_of_a_day_and_model_are_equal(
    sandbox: Sandbox, home: Path, conversations: list[dict[str, object]]
) -> None:
    forked = homes.answered(noon(DAYS[1], 9), "O", 5)
    homes.claude(home, homes.FORK, [*conversations, forked])
    found = ours(sandbox)
    assert found == theirs(home)
    assert found[DAYS[1], "claude-opus-4-8"] == (16, 30, 50, 20)
    assert found[DAYS[0], "gpt-5.5"] == (400, 100, 0, 10)


def test_thoughts_of_gemini_are_output_and_ccusage_shows_them_only_in_its_total(
    sandbox: Sandbox, home: Path
) -> None:
    homes.gemini(home, "65e7fe82", noon(DAYS[0], 1))
    (mine,) = ours(sandbox).values()
    (other,) = theirs(home).values()
    assert mine == (60, 40, 0, 27)  # 7 of them thoughts, which cost what output costs
    assert other == (60, 40, 0, 20)


def test_a_compaction_is_in_no_line_and_ccusage_does_not_count_it(
    sandbox: Sandbox, home: Path
) -> None:
    day = DAYS[0]
    lines = [
        homes.answered(noon(day, 1), "M", 700),
        homes.running_total(noon(day, 2), 1600, 30),  # 900 of them for a summary
    ]
    homes.claude(home, homes.CLAUDE, lines)
    assert theirs(home) == {(day, "claude-opus-4-8"): (700, 0, 0, 10)}
    rows = sandbox.json("usage", "--by", "model", "--format", "json")
    assert {row["model"]: row["input"] for row in rows} == {
        "claude-opus-4-8": 700,
        "claude-opus-4-8 (not shown)": 900,
    }


def test_a_total_that_codex_says_again_counts_once(sandbox: Sandbox, home: Path) -> None:
    day = DAYS[0]
    path = homes.codex(home, homes.CODEX, (noon(day, 1), 500, 500))
    last = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
    last["timestamp"] = noon(day, 5)  # only its limits have changed
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(last, separators=(",", ":")) + "\n")
    assert ours(sandbox) == {(day, "gpt-5.5"): (500, 0, 0, 10)} == theirs(home)


def test_the_database_of_opencode_has_the_same_totals(sandbox: Sandbox, home: Path) -> None:
    homes.opencode(home, at_ms=1_767_268_801_000)
    assert ours(sandbox) == {(DAYS[0], "claude-opus-4-8"): (10, 3, 4, 5)} == theirs(home)
