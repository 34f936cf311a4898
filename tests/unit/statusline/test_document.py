"""What a command reads, and what is made of what it prints."""

import json
from pathlib import Path
from typing import Any

import pytest

from siding.statusline.document import (
    Facts,
    TokenUse,
    Worktree,
    document,
    hit_rate,
    line_of,
    percentages,
)
from siding.statusline.words import parts_of, shown, tokens

CASES: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).with_name("cases.json").read_text("utf-8")
)
USE = TokenUse(input_tokens=2_000, output_tokens=300, cache_read_input_tokens=22_000)
FULL = Facts(
    session_id="6f",
    session_name="fix add",
    transcript_path="/t.jsonl",
    cwd="/w",
    project_dir="/p",
    version="1",
    model="m-1",
    effort="high",
    agent="claude",
    dollars=0.42,
    began_s=100.0,
    lines_added=18,
    lines_removed=2,
    input_tokens=24_000,
    output_tokens=300,
    window=200_000,
    use=USE,
    worktree=Worktree("calc", "/w", "siding/calc", "/p", "main"),
    siding={"waits": 3},
)


def _use(said: dict[str, int] | None) -> TokenUse | None:
    return None if said is None else TokenUse(**said)


@pytest.mark.parametrize("case", CASES["status_line.percentages"], ids=str)
def test_measured_percentages(case: dict[str, Any]) -> None:
    use, window = case["args"]
    assert percentages(_use(use), window)._asdict() == case["result"]


@pytest.mark.parametrize("case", CASES["status_line.cache_hit_rate"], ids=str)
def test_measured_hit_rates(case: dict[str, Any]) -> None:
    use = _use(case["args"][0])
    assert use is not None
    assert hit_rate(use) == case["result"]


@pytest.mark.parametrize("case", CASES["format.tokens"], ids=str)
def test_measured_tokens(case: dict[str, Any]) -> None:
    assert tokens(*case["args"]) == case["result"]


def test_every_field() -> None:
    found = document(FULL, now_s=160.0)
    assert found == {
        "hook_event_name": "Status",
        "session_id": "6f",
        "session_name": "fix add",
        "transcript_path": "/t.jsonl",
        "cwd": "/w",
        "model": {"id": "m-1", "display_name": "m-1"},
        "workspace": {"current_dir": "/w", "project_dir": "/p", "added_dirs": []},
        "version": "1",
        "output_style": {"name": "default"},
        "cost": {
            "total_cost_usd": 0.42,
            "total_duration_ms": 60_000,
            "total_api_duration_ms": 0,
            "total_lines_added": 18,
            "total_lines_removed": 2,
        },
        "context_window": {
            "total_input_tokens": 24_000,
            "total_output_tokens": 300,
            "context_window_size": 200_000,
            "current_usage": {
                "input_tokens": 2_000,
                "output_tokens": 300,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 22_000,
            },
            "used_percentage": 12,
            "remaining_percentage": 88,
        },
        "exceeds_200k_tokens": False,
        "effort": {"level": "high"},
        "agent": {"name": "claude"},
        "worktree": {
            "name": "calc",
            "path": "/w",
            "branch": "siding/calc",
            "original_cwd": "/p",
            "original_branch": "main",
        },
        "siding": {"waits": 3},
    }


def test_it_is_one_line_of_json() -> None:
    said = line_of(FULL._replace(session_name="two\nlines 漢字"), 160.0)
    assert said.count(b"\n") == 1
    assert json.loads(said)["session_name"] == "two\nlines 漢字"


def test_where_nothing_is_known_scripts_find_what_they_can_take() -> None:
    found = document(Facts(), now_s=160.0)
    context = found["context_window"]
    assert context["current_usage"] is None
    assert context["used_percentage"] is context["remaining_percentage"] is None
    assert context["context_window_size"] == 200_000
    assert not {"session_name", "worktree", "agent", "vim", "rate_limits", "remote"} & set(found)


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("A\n\n  B  ", "A\nB"),
        ("A\r\nB\r\n", "A\nB"),
        ("  \n \n", ""),
        ("\x1b[32mgreen\x1b[0m\n", "\x1b[32mgreen\x1b[0m"),
        ('{"async":true}', '{"async":true}'),
    ],
)
def test_measured_outputs(printed: str, text: str) -> None:
    assert shown(printed) == text


def test_the_line_without_a_command() -> None:
    assert parts_of(FULL) == ["m-1", "Context 12% (24k/200k)", "Cache 92%", "$0.42"]
    assert parts_of(FULL, 59) == ["m-1", "Context 12%", "Cache 92%", "$0.42"]
    assert parts_of(FULL._replace(window=0)) == ["m-1", "Context 24k", "Cache 92%", "$0.42"]
    assert parts_of(Facts()) == []
