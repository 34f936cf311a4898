"""How Siding's own agent is held, and what its transcript proves of a prompt."""

import json
from pathlib import Path

import pytest

from siding.agents.own.talking import TALKING
from siding.agents.talking.port import Hold, Proof, Sent

SESSION = "0d0c7a40-5a5c-4b53-8e0b-2d9e2e0d4c11"
SENT = Sent(prompt="5a093d0d-22b4-48ac-9a0a-a7cb45eef0b4", text="Go", turn=0, session=SESSION)


@pytest.fixture
def hold(tmp_path: Path) -> Hold:
    env = {"HOME": str(tmp_path), "SIDING_HOME": str(tmp_path / "kept")}
    return Hold(program=("siding-agent",), cwd=Path("/w"), env=env)


def proof(hold: Hold, home: Path, **line: object) -> Proof:
    path = home / "projects" / "repo-1" / "sessions" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"type": "user", **line}))
    return TALKING.proof(SENT, hold)


def test_the_turn_of_a_prompt_has_its_id(hold: Hold, tmp_path: Path) -> None:
    assert proof(hold, tmp_path / "kept", promptId=SENT.prompt) is Proof.TAKEN


def test_it_is_on_the_disk_before_a_model_is_asked(hold: Hold, tmp_path: Path) -> None:
    assert proof(hold, tmp_path / "kept", promptId="other") is Proof.NOT_TAKEN
    assert proof(hold, tmp_path / "kept", message=SENT.prompt) is Proof.NOT_TAKEN


def test_without_a_transcript_nobody_knows(hold: Hold, tmp_path: Path) -> None:
    assert TALKING.proof(SENT, hold) is Proof.UNSURE
    proof(hold, tmp_path / "kept", promptId=SENT.prompt)
    assert TALKING.proof(SENT._replace(session="*"), hold) is Proof.UNSURE


def test_the_usual_home_is_below_the_persons(hold: Hold, tmp_path: Path) -> None:
    usual = hold._replace(env={"HOME": str(tmp_path)})
    assert proof(usual, tmp_path / ".siding", promptId=SENT.prompt) is Proof.TAKEN


def test_it_is_not_steered(hold: Hold) -> None:
    """It does not give back what it was told while a turn runs."""
    talker = TALKING.opened(hold).talker
    talker.to_send()
    assert not talker.abilities.steers
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    talker.prompt("p", ["Go"])
    talker.receive(json.dumps({"type": "assistant", "message": {"content": [call]}}).encode())
    talker.to_send()
    talker.steer("s", ["Be brief"])
    assert talker.to_send() == b""


def test_its_effort_is_given_at_the_start_alone(hold: Hold) -> None:
    opening = TALKING.opened(hold._replace(effort="low"))
    assert "--effort=low" in opening.argv
    assert not opening.talker.abilities.efforts
