"""After a turn was taken back its agent goes on without it, with what real agents send."""

import json
from pathlib import Path

from agents.conftest import AgentAtWork, ClaudeAtWork
from agents.models import Answer
from bwrap import bwrap_problem
from siding.adapters.agents.table import BY_NAME

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


def files(agent: AgentAtWork) -> list[str]:
    return [word for word in WORDS if (agent.task.workspace() / word).exists()]


class TestGoneOnWith:
    """One conversation after the other: each run of a real agent takes two seconds."""

    def test_a_redo_leaves_it_whole_and_what_was_taken_back_is_not_heard(
        self, agent: AgentAtWork
    ) -> None:
        session = talked(agent, 3)
        agent.task.siding("undo")
        agent.task.siding("redo")
        agent.says(["I see."])
        assert "taken back" not in agent.goes_on("", f"Now the {WORDS[3]}")
        assert heard(agent) == list(WORDS[:4])
        assert agent.turns[-1]["session"] == session

        (old,) = {Path(turn["transcript"]) for turn in agent.turns}
        kept = old.read_bytes()
        agent.task.siding("rewind", agent.turns[2]["step_id"])
        assert files(agent) == ["aardvark", "buffalo"]
        agent.says(["I see."])
        said = agent.goes_on("", f"Now the {WORDS[4]}")
        assert heard(agent) == ["aardvark", "buffalo", "echidna"]
        assert "went on from before 'Make the cormorant', taken back since" in said
        assert b"taken back since" in agent.task.siding("show").stdout
        assert old.read_bytes() == kept
        assert agent.turns[-1]["session"] != session

    def test_the_copy_can_be_gone_back_in_as_well_and_to_the_beginning(
        self, agent: AgentAtWork
    ) -> None:
        session = talked(agent, 2)
        agent.task.siding("undo")
        agent.says([agent.shell(f"echo 1 >{WORDS[3]}")], ["Done."])
        told = agent.goes_on(session, f"Make the {WORDS[3]}", options=sandbox_if_any())
        if "outside of the sandbox" in told:  # of Codex: its server would run there
            assert heard(agent) == ["aardvark", "buffalo", "dromedary"]
            assert agent.model is not None
            sent = json.dumps(agent.model.requests[-1], ensure_ascii=False)
            assert "Taken back: your work on “Make the buffalo”" in sent
        else:
            assert heard(agent) == ["aardvark", "dromedary"]
        copy = agent.turns[-1]["session"]
        agent.task.siding("rewind", "last")
        agent.says(["I see."])
        said = agent.goes_on(copy, f"Now the {WORDS[4]}")
        assert "went on from before" in said
        assert heard(agent) == ["aardvark", "echidna"]

        told = agent.task.siding("rewind", "1").stderr.decode()
        assert files(agent) == []
        assert f"siding run -- {' '.join(BY_NAME[agent.name].resumes)} {session}" in told
        agent.says(["I see."])
        agent.goes_on(copy, f"Now the {WORDS[2]}")
        assert heard(agent) == ["cormorant"]


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
