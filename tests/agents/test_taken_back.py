"""After a turn was taken back its agent goes on without it, with what real agents send."""

import json
from pathlib import Path

from agents.conftest import AgentAtWork, ClaudeAtWork
from agents.models import Answer
from bwrap import bwrap_problem
from siding.agents.table import BY_NAME

WORDS = ("aardvark", "buffalo", "cormorant", "dromedary", "echidna")  # of prompts, in this order


def talked(agent: AgentAtWork, count: int) -> str:
    """Have prompts answered, each in a run of its own; return the conversation's id."""
    script: list[Answer] = []
    for word in WORDS[:count]:
        script += [[agent.shell(f"echo 1 >{word}")], ["Done."]]
    agent.says(*script)
    agent.prompt(f"Make the {WORDS[0]}")
    session = str(agent.turns[-1]["session"])
    for word in WORDS[1:count]:
        agent.goes_on(session, f"Make the {word}")
    assert [turn["session"] for turn in agent.turns] == [session] * count
    return session


def sandbox_if_any() -> list[str]:
    return [] if bwrap_problem() else ["--sandbox"]


def heard(agent: AgentAtWork) -> list[str]:
    """The prompts that the model was sent last."""
    assert agent.model is not None
    sent = json.dumps(agent.model.requests[-1])
    return [word for word in WORDS if f"the {word}" in sent]


def sent(agent: AgentAtWork) -> str:
    """What the model was sent last."""
    assert agent.model is not None
    return json.dumps(agent.model.requests[-1], ensure_ascii=False)


def files(agent: AgentAtWork) -> list[str]:
    return [word for word in WORDS if (agent.task.workspace() / word).exists()]


class TestGoneOnWith:
    """One conversation after the other: each run of a real agent takes two seconds."""

    def test_a_redo_leaves_it_whole_and_what_was_taken_back_is_not_heard(
        self, forgetting: AgentAtWork
    ) -> None:
        session = talked(forgetting, 3)
        forgetting.task.siding("undo")
        forgetting.task.siding("redo")
        forgetting.says(["I see."])
        assert "taken back" not in forgetting.goes_on("", f"Now the {WORDS[3]}")
        assert heard(forgetting) == list(WORDS[:4])
        assert forgetting.turns[-1]["session"] == session

        (old,) = {Path(turn["transcript"]) for turn in forgetting.turns}
        kept = old.read_bytes()
        forgetting.task.siding("rewind", forgetting.turns[2]["step_id"])
        assert files(forgetting) == ["aardvark", "buffalo"]
        forgetting.says(["I see."])
        said = forgetting.goes_on("", f"Now the {WORDS[4]}")
        assert heard(forgetting) == ["aardvark", "buffalo", "echidna"]
        assert "went on from before 'Make the cormorant', taken back since" in said
        assert b"taken back since" in forgetting.task.siding("show").stdout
        assert old.read_bytes() == kept
        assert forgetting.turns[-1]["session"] != session

        for act in (
            "undo",
            "redo",
            "undo",
        ):  # of the way back; the copy does not have what is done again
            forgetting.task.siding(act)
        assert files(forgetting) == list(WORDS[:3])
        forgetting.says(["I see."])
        forgetting.goes_on("", f"Now the {WORDS[3]}")
        assert heard(forgetting) == ["aardvark", "buffalo", "cormorant", "dromedary"]
        assert "Done again, as you left it: your work on “Make the cormorant”" in sent(forgetting)
        forgetting.says(["I see."])
        forgetting.goes_on(forgetting.turns[-1]["session"], "And now?")  # it knows
        assert sent(forgetting).count("Done again") == 1

    def test_the_copy_can_be_gone_back_in_as_well_and_to_the_beginning(
        self, forgetting: AgentAtWork
    ) -> None:
        session = talked(forgetting, 2)
        forgetting.task.siding("undo")
        forgetting.says([forgetting.shell(f"echo 1 >{WORDS[3]}")], ["Done."])
        told = forgetting.goes_on(session, f"Make the {WORDS[3]}", options=sandbox_if_any())
        if "outside of the sandbox" in told:  # of Codex: its server would run there
            assert heard(forgetting) == ["aardvark", "buffalo", "dromedary"]
            assert forgetting.model is not None
            sent = json.dumps(forgetting.model.requests[-1], ensure_ascii=False)
            assert "Taken back: your work on “Make the buffalo”" in sent
        else:
            assert heard(forgetting) == ["aardvark", "dromedary"]
        copy = forgetting.turns[-1]["session"]
        forgetting.task.siding("rewind", "last")
        forgetting.says(["I see."])
        said = forgetting.goes_on(copy, f"Now the {WORDS[4]}")
        assert "went on from before" in said
        assert heard(forgetting) == ["aardvark", "echidna"]

        told = forgetting.task.siding("rewind", "1").stderr.decode()
        assert files(forgetting) == []
        assert f"siding run -- {' '.join(BY_NAME[forgetting.name].resumes)} {session}" in told
        forgetting.says(["I see."])
        forgetting.goes_on(copy, f"Now the {WORDS[2]}")
        assert heard(forgetting) == ["cormorant"]


class TestTold:
    def test_a_conversation_that_goes_on_whole_is_told_what_was_taken_back(
        self, remembering: AgentAtWork
    ) -> None:
        session = talked(remembering, 1)
        remembering.task.siding("undo")
        model = remembering.says(["I see."])
        remembering.goes_on(session, "Is it there?")
        told = json.dumps(model.requests[-1], ensure_ascii=False)
        assert "Taken back: your work on “Make the aardvark”" in told
        assert remembering.turns[-1]["prompt"] == "Is it there?"
        assert remembering.turns[-1]["session"] == session


class TestLive:
    def test_the_model_is_told_with_its_next_prompt(self, claude: ClaudeAtWork) -> None:
        model = claude.says(
            [claude.shell("echo 1 >aardvark")], ["Done."], ["It is gone."], ["Nothing new."]
        )
        talk = claude.talk()
        talk.says("Make the aardvark")
        claude.task.siding("undo")
        talk.says("Is it there?")
        told = json.dumps(model.requests[-1], ensure_ascii=False)
        assert "Taken back: your work on “Make the aardvark”" in told
        assert told.count("While you waited") == 1
        talk.says("And now?")
        assert json.dumps(model.requests[-1]).count("While you waited") == 1
        talk.ends()
