"""What a client has written of a subagent is shown; nothing that can be in there stops anything."""

from pathlib import Path

import pytest

from siding.agents.transcripts.layout import Subagent, subagent_of


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        (None, Subagent("ag")),
        (b'{"agentType":"Explore","description":"look"}', Subagent("ag", "Explore", "look")),
        (b'{"agentType":"Explore"}', Subagent("ag", "Explore")),
        (b'{"agentType":null,"other":7}', Subagent("ag")),
        (b"[1]", Subagent("ag")),
        (b"{", Subagent("ag")),
        (b"\xff", Subagent("ag")),
        (b"[" * 100_000, Subagent("ag")),
        (b'"' + b"x" * 70_000 + b'"', Subagent("ag")),
    ],
)
def test_a_description_or_none(tmp_path: Path, about: bytes | None, expected: Subagent) -> None:
    transcript = tmp_path / "agent-ag.jsonl"
    if about is not None:
        (tmp_path / "agent-ag.meta.json").write_bytes(about)
    assert subagent_of(transcript) == expected


def test_a_title_says_what_is_known() -> None:
    assert Subagent("ag").title == "ag"
    assert Subagent("ag", "Explore", "look").title == "ag (Explore: look)"
    assert Subagent("ag", "", "look").title == "ag (look)"
