"""How Claude Code is held: its command line, and what its transcript proves of a prompt."""

import json
from pathlib import Path
from typing import Any

import pytest

from siding.agents.claude.talking import TALKING
from siding.agents.talking.port import Hold, Proof, Sent

SESSION = "0d0c7a40-5a5c-4b53-8e0b-2d9e2e0d4c11"
PROMPT = "5a093d0d-22b4-48ac-9a0a-a7cb45eef0b4"


@pytest.fixture
def hold(tmp_path: Path) -> Hold:
    return Hold(program=("claude",), cwd=Path("/w"), env={"HOME": str(tmp_path)})


class TestOpened:
    def test_a_new_conversation_has_the_id_that_it_should_have(self, hold: Hold) -> None:
        opening = TALKING.opened(hold._replace(new_session=SESSION))
        assert f"--session-id={SESSION}" in opening.argv
        assert not [word for word in opening.argv if word.startswith("--resume")]
        assert opening.talker.session == SESSION

    def test_one_is_gone_on_with(self, hold: Hold) -> None:
        opening = TALKING.opened(hold._replace(session=SESSION, new_session="other"))
        assert f"--resume={SESSION}" in opening.argv
        assert not [word for word in opening.argv if word.startswith("--session-id")]
        assert opening.talker.session == SESSION

    def test_a_person_is_asked_unless_they_have_said_otherwise(self, hold: Hold) -> None:
        def mode(given: Hold) -> list[str]:
            argv = TALKING.opened(given).argv
            return [argv[at + 1] for at, word in enumerate(argv) if word == "--permission-mode"]

        assert mode(hold) == ["default"]
        assert mode(hold._replace(mode="plan")) == ["plan"]
        assert mode(hold._replace(options=("--permission-mode", "auto"))) == ["auto"]
        assert mode(hold._replace(options=("--permission-mode=auto",))) == []

    def test_what_may_begin_with_a_dash_is_one_word(self, hold: Hold) -> None:
        argv = TALKING.opened(hold._replace(model="-m", text="-t")).argv
        assert {"--model=-m", "--append-system-prompt=-t"} <= {*argv}

    def test_its_own_screen_opens_the_conversation(self, hold: Hold) -> None:
        assert TALKING.own_screen(hold) == ()
        options = ("--add-dir", "/d")
        words = TALKING.own_screen(hold._replace(session=SESSION, model="opus", options=options))
        assert words == ("claude", f"--resume={SESSION}", "--model=opus", *options)

    def test_its_own_screen_is_in_the_mode_that_was_chosen(self, hold: Hold) -> None:
        """Its usual one there asks a model in the place of the person."""
        held = hold._replace(session=SESSION, mode="plan")
        assert TALKING.own_screen(held)[2:] == ("--permission-mode", "plan")
        given = held._replace(options=("--permission-mode=auto",))
        assert TALKING.own_screen(given)[2:] == ("--permission-mode=auto",)


class TestProof:
    def proof(self, hold: Hold, *lines: Any, **fields: Any) -> Proof:
        root = Path(hold.env.get("CLAUDE_CONFIG_DIR") or Path(hold.env["HOME"], ".claude"))
        path = root / "projects" / "-w" / f"{SESSION}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "".join(each if isinstance(each, str) else json.dumps(each) for each in lines)
        )
        sent = Sent(prompt=PROMPT, text="Go", turn=0, session=SESSION)
        return TALKING.proof(sent._replace(**fields), hold)

    def test_a_line_with_our_id_proves_it(self, hold: Hold) -> None:
        assert self.proof(hold, {"type": "user", "uuid": PROMPT}) is Proof.TAKEN

    def test_one_that_came_into_a_turn_is_beside_it(self, hold: Hold) -> None:
        attachment = {"type": "queued_command", "source_uuid": PROMPT}
        assert self.proof(hold, {"type": "attachment", "attachment": attachment}) is Proof.TAKEN

    def test_it_may_keep_its_files_elsewhere(self, hold: Hold, tmp_path: Path) -> None:
        elsewhere = hold._replace(env={**hold.env, "CLAUDE_CONFIG_DIR": str(tmp_path / "kept")})
        assert self.proof(elsewhere, {"type": "user", "uuid": PROMPT}) is Proof.TAKEN
        assert self.proof(elsewhere, prompt="other") is Proof.UNSURE

    @pytest.mark.parametrize(
        "line",
        [
            {"type": "assistant", "uuid": PROMPT},
            {"type": "attachment", "attachment": {"source_uuid": "other", "prompt": PROMPT}},
            {"type": "user", "uuid": "other", "parentUuid": PROMPT},
            {"type": "queue-operation", "operation": "enqueue", "commandUuid": PROMPT},
            f'{{"type": "user", "uuid": "{PROMPT}"',
            f'["{PROMPT}"]',
        ],
    )
    def test_that_it_is_named_elsewhere_proves_nothing(self, hold: Hold, line: Any) -> None:
        """A prompt that waits for its turn is lost with the client; a line may be cut off."""
        assert self.proof(hold, line) is Proof.UNSURE

    def test_without_a_line_nobody_knows(self, hold: Hold) -> None:
        """Newer versions ask the model before the line is on disk."""
        sent = Sent(prompt=PROMPT, text="Go", turn=0, session=SESSION)
        assert TALKING.proof(sent, hold) is Proof.UNSURE
        assert self.proof(hold, {"type": "user", "uuid": "other"}) is Proof.UNSURE

    def test_the_id_of_a_conversation_is_no_pattern(self, hold: Hold) -> None:
        assert self.proof(hold, {"type": "user", "uuid": PROMPT}, session="*") is Proof.UNSURE
        assert self.proof(hold, {"type": "user", "uuid": PROMPT}, session="../x") is Proof.UNSURE
