"""Ten turns with a real agent in a conversation, and some taken back: what its model hears then."""

from contextlib import closing

import pytest

from agents.conftest import at_work
from agents.talking.driver import said
from agents.talking.rows import ROWS
from agents.test_chat import Talk
from sandbox import Sandbox

TURNS = 10
WRITES = 3  # the turn that makes a file
LAST = f"Prompt {TURNS:02}: please"


def prompt_of(number: int) -> str:
    return f"Prompt {number:02}: please"


class Turns(Talk):
    """A conversation of ten turns, of which the third has made a file."""

    def ten(self) -> None:
        for number in range(1, TURNS + 1):
            answers = [[f"Answer {number:02}."]]
            if number == 1:
                self.model.says(*answers)
                self.begin(prompt_of(1))
                self.recorded(1)
            elif number == WRITES:
                self.turn(prompt_of(number), self.writes("three.txt"), *answers, allows=True)
            else:
                self.turn(prompt_of(number), *answers)

    def heard(self, prompt: str, *options: str) -> tuple[list[int], str]:
        """Give a prompt; return which turns its request has, and what it was told."""
        count = len(self.events("recorded"))
        informed = len(self.events("informed"))
        self.model.says(["Well."])
        self.sandbox.siding("chat", "send", prompt, *options)
        self.recorded(count + 1)
        asked = said(self.model.requests[-1])
        assert prompt in asked
        numbers = range(1, TURNS + 1)
        has_prompts = [each for each in numbers if prompt_of(each) in asked]
        assert has_prompts == [each for each in numbers if f"Answer {each:02}." in asked]
        return has_prompts, "".join(each["text"] for each in self.events("informed")[informed:])


@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", sorted(ROWS))
def test_its_model_hears_nothing_of_turns_that_were_taken_back(sandbox: Sandbox, name: str) -> None:
    row = ROWS[name]
    everything = list(range(1, TURNS + 1))
    with closing(at_work(sandbox, row.kind, row.executable)) as agent:
        row.prepare(agent)
        talk = Turns(sandbox, agent, row)
        talk.ten()
        steps = [each["step"] for each in talk.events("recorded")]
        workspace = sandbox.workspace()

        # The file of the third turn alone: nothing of the conversation is taken back.
        sandbox.siding("rollback", "--step", str(steps[1]), "three.txt", cwd=workspace)
        assert not (workspace / "three.txt").exists()
        heard, told = talk.heard("What is there?")
        assert heard == everything
        assert "to another recorded state" in told

        sandbox.siding("rewind", str(steps[WRITES - 1]))
        assert talk.heard("And now?") == ([1, 2], "")
        assert not (workspace / "three.txt").exists()
        went = talk.events("went-back")[-1]
        assert (went["about"], went["forgets"]) == (prompt_of(WRITES), TURNS - WRITES + 2)

        sandbox.siding("rollback", "--step", str(steps[-1]))  # all ten are there again
        assert talk.heard("And again?") == (everything, "")
        sandbox.siding("undo")  # that prompt
        sandbox.siding("rollback", "--base")
        sandbox.siding("undo")
        sandbox.siding("redo")
        assert talk.heard("From the start") == ([], "")
        assert not talk.events("not-back")
        sandbox.siding("verify")


@pytest.mark.timeout(200)
def test_what_a_person_has_cleared_does_not_come_back(sandbox: Sandbox) -> None:
    row = ROWS["claude"]
    with closing(at_work(sandbox, row.kind)) as agent:
        talk = Turns(sandbox, agent, row)
        talk.model.says(["Answer 01."])
        talk.begin(prompt_of(1))
        talk.recorded(1)
        talk.turn("/clear")
        talk.turn(prompt_of(2), talk.writes("two.txt"), ["Answer 02."], allows=True)
        after = talk.events("recorded")[-1]["step"]
        assert talk.heard("Which ones?") == ([2], "")
        sandbox.siding("rollback", "--base")
        assert talk.heard("From the start") == ([], "")
        sandbox.siding("rollback", "--step", str(after))
        assert talk.heard("And again?") == ([2], "")
        assert not talk.events("not-back")
