"""The ids of turns that a client gives."""

from pathlib import Path

import pytest

from siding.faces.cli.assistant.turn_ids import TurnIds

GIVEN = "5a093d0d-22b4-48ac-9a0a-a7cb45eef0b4"


def test_a_prompts_id_is_that_of_its_turn_once() -> None:
    ids = TurnIds(None)
    assert ids.id_for(GIVEN) == GIVEN
    assert ids.id_for(GIVEN) == ""


def test_one_of_an_earlier_process_is_not_used_again(tmp_path: Path) -> None:
    transcript = tmp_path / "session.jsonl"
    assert TurnIds(transcript).id_for(GIVEN) == GIVEN  # there is no transcript yet
    transcript.write_text(f'{{"type":"user","promptId":"{GIVEN}"}}\n')
    assert TurnIds(transcript).id_for(GIVEN) == ""
    transcript.write_text(f'{{"type":"user","uuid":"{GIVEN}"}}\n')
    assert TurnIds(transcript).id_for(GIVEN) == GIVEN


@pytest.mark.parametrize("given", [None, 7, "", "r1", "../x", f"{GIVEN}\n", GIVEN.upper()])
def test_what_is_no_id_of_ours_is_not_used(given: object) -> None:
    assert TurnIds(None).id_for(given) == ""
