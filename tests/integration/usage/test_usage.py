"""`siding usage` counts what lies in the homes of the clients, as it is now."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox

from . import homes

REAL = Path(__file__).parents[2] / "unit/agents/real"
FIRST, SECOND = "2026-01-01T12:00:01.000Z", "2026-01-02T12:00:01.000Z"


@pytest.fixture
def home(sandbox: Sandbox) -> Path:
    return Path(sandbox.env["HOME"])


def counted(sandbox: Sandbox, *arguments: str) -> list[dict[str, Any]]:
    return list(sandbox.json("usage", *arguments, "--format", "json"))


def by(sandbox: Sandbox, key: str, *arguments: str) -> dict[str, int]:
    return {row[key]: row["input"] for row in counted(sandbox, "--by", key, *arguments)}


def test_all_clients_are_counted_without_a_project(sandbox: Sandbox, home: Path) -> None:
    homes.claude(home, homes.CLAUDE, [homes.asked(FIRST), homes.answered(FIRST, "M", 1000)])
    homes.codex(home, homes.CODEX, (SECOND, 500, 500), cached=100)
    homes.gemini(home, "65e7fe82", SECOND)
    homes.opencode(home, at_ms=1_767_355_201_000)
    before = sorted(path for path in home.rglob("*") if ".siding" not in path.parts)
    assert by(sandbox, "client") == {"claude": 1000, "codex": 400, "gemini": 60, "opencode": 10}
    assert by(sandbox, "day") == {"2026-01-01": 1000, "2026-01-02": 470}
    assert by(sandbox, "day", "--since", "2026-01-02") == {"2026-01-02": 470}
    assert by(sandbox, "day", "--until", "2026-01-01") == {"2026-01-01": 1000}
    assert by(sandbox, "project") == {"/w": 1470}
    assert by(sandbox, "turn", homes.CLAUDE[:8]) == {f"{homes.CLAUDE}#1": 1000}
    assert sorted(path for path in home.rglob("*") if ".siding" not in path.parts) == before


def test_a_changed_transcript_is_counted_as_it_is_now(sandbox: Sandbox, home: Path) -> None:
    path = homes.claude(home, homes.CLAUDE, [homes.answered(FIRST, "M", 1000)])
    assert by(sandbox, "session") == {homes.CLAUDE: 1000}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(homes.answered(SECOND, "N", 5), separators=(",", ":")) + "\n")
    assert by(sandbox, "session") == {homes.CLAUDE: 1005}
    path.unlink()
    assert counted(sandbox) == []


def test_an_imported_conversation_counts_once(sandbox: Sandbox, home: Path) -> None:
    path = homes.codex(home, homes.CODEX, (SECOND, 500, 500))
    path.write_bytes((REAL / "codex-0.169.0.jsonl").read_bytes())
    sandbox.siding("session", "import", str(path))
    assert by(sandbox, "client") == {"codex": 200}
    sandbox.siding("session", "branch")  # a copy of what was imported
    assert by(sandbox, "client") == {"codex": 200}
    path.unlink()
    assert by(sandbox, "client") == {"siding": 200}
    assert by(sandbox, "session") == {homes.CODEX: 200}


def test_a_call_belongs_to_the_task_in_whose_workspace_it_was_made(
    sandbox: Sandbox, home: Path
) -> None:
    task = sandbox.json("task", "start", "mend it", "--format", "json")
    workspace = sandbox.siding("path", task["id"]).stdout.decode().strip()
    homes.claude(
        home,
        homes.CLAUDE,
        [
            homes.answered(FIRST, "M", 1000, cwd=workspace),
            homes.answered(FIRST, "N", 20, cwd=str(sandbox.repo)),
            homes.answered(FIRST, "O", 3),
        ],
    )
    assert by(sandbox, "task") == {task["id"]: 1000, "-": 20}
    assert sum(by(sandbox, "day", "--here").values()) == 1020
    assert set(by(sandbox, "project")) == {"/w", *by(sandbox, "project", "--here")}


def test_costs_are_of_each_call_and_a_price_that_nobody_knows_is_said(
    sandbox: Sandbox, home: Path
) -> None:
    lines = [homes.answered(FIRST, name, 150_000, model="claude-sonnet-4-5") for name in "MN"]
    homes.claude(home, homes.CLAUDE, [*lines, homes.answered(FIRST, "O", 7, model="our-model")])
    done = sandbox.siding("usage", "--by", "model", "--cost", "--format", "json")
    costs = {row["model"]: row["cost"] for row in json.loads(done.stdout)}
    # Two calls below the size from which a token costs more; their sum is above it.
    assert costs == {"claude-sonnet-4-5": 0.9003, "our-model": None}
    assert b"no price is known of our-model" in done.stderr
    table = sandbox.siding("usage", "--by", "model", "--cost").stdout.decode()
    assert "(price unknown)" in table
    own = Path(sandbox.env.get("SIDING_HOME") or home / ".siding") / "prices.yaml"
    own.write_text("our-model: {input: 1000000, output: 0}\n", encoding="utf-8")
    costs = {row["model"]: row["cost"] for row in counted(sandbox, "--by", "model", "--cost")}
    assert costs["our-model"] == 7


def test_a_table_for_spreadsheets(sandbox: Sandbox, home: Path) -> None:
    homes.claude(home, homes.CLAUDE, [homes.answered(FIRST, "M", 1000)])
    text = sandbox.siding("usage", "--format", "csv").stdout.decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["day"], row["input"], row["output"]) == ("2026-01-01", "1000", "10")


def test_a_day_that_is_none_is_refused(sandbox: Sandbox) -> None:
    assert b"is no day" in sandbox.siding("usage", "--since", "soon", status=2).stderr
