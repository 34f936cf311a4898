"""The list of what is to be done, and questions to the person."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from siding.assistant.tools.place import NobodyAnswers
from unit.assistant.tools.setting import Bench, place_in, with_tools


def _item(content: str, status: str) -> dict[str, str]:
    return {"content": content, "status": status, "activeForm": f"Doing {content}"}


def test_the_list_is_replaced(tmp_path: Path) -> None:
    async def act(at: Bench) -> None:
        first = [_item("a", "in_progress"), _item("b", "pending")]
        assert await at.text("TodoWrite", todos=first) == (
            "The list was kept: 0 of 2 done. Go on with: a"
        )
        second = [_item("a", "completed"), _item("b", "pending")]
        result = await at.call("TodoWrite", todos=second)
        assert result.details == {"oldTodos": first, "newTodos": second}
        twice = [_item("a", "in_progress"), _item("b", "in_progress")]
        assert "Only one item" in await at.error("TodoWrite", todos=twice)
        assert list(at.memory.todos.items) == second
        assert "expected one of" in await at.error("TodoWrite", todos=[_item("a", "done")])
        many = [_item(str(number), "pending") for number in range(101)]
        assert "does not fit" in await at.error("TodoWrite", todos=many)
        assert "0 of 100 done" in await at.text("TodoWrite", todos=many[1:])

    with_tools(place_in(tmp_path), act)


class Person:
    def __init__(self, answers: Mapping[str, str] | None) -> None:
        self.asked: list[Sequence[Mapping[str, Any]]] = []
        self._answers = answers

    async def ask(self, call: str, questions: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
        self.asked.append(questions)
        if self._answers is None:
            raise NobodyAnswers("The person has gone.")
        return self._answers


def _question(text: str, *labels: str) -> dict[str, Any]:
    options = [{"label": label, "description": ""} for label in labels]
    return {"question": text, "header": "h", "options": options}


def test_a_person_answers(tmp_path: Path) -> None:
    person = Person({"Which?": "x", "Why?": ""})
    questions = [_question("Which?", "x", "y"), _question("Why?", "a", "b")]

    async def act(at: Bench) -> None:
        text = await at.text("AskUserQuestion", questions=questions)
        assert text == "Which?\n→ x\nWhy?\n→ (no answer)"
        for wrong in ([_question("Which?", "x", "x")], [questions[0], questions[0]]):
            assert "twice. Nothing was asked." in await at.error("AskUserQuestion", questions=wrong)

    with_tools(place_in(tmp_path, asker=person), act)
    assert person.asked == [questions]


@pytest.mark.parametrize(
    ("asker", "words"), [(None, "There is nobody to ask here."), (Person(None), "has gone.")]
)
def test_without_an_answer_the_model_goes_on(
    tmp_path: Path, asker: Person | None, words: str
) -> None:
    async def act(at: Bench) -> None:
        text = await at.text("AskUserQuestion", questions=[_question("Which?", "x", "y")])
        assert words in text
        assert "Go on without an answer" in text

    with_tools(place_in(tmp_path, asker=asker), act)


def test_calls_that_change_the_conversation_alone_say_so(tmp_path: Path) -> None:
    """Nobody is asked about those. What changes a file or starts a command never says it."""
    given: dict[str, dict[str, Any]] = {
        "AskUserQuestion": {"questions": [{"question": "Which?"}]},
        "Bash": {"command": "make"},
        "Edit": {"file_path": "a", "old_string": "a", "new_string": "b"},
        "KillShell": {"shell_id": "1"},
        "Siding": {"action": "note", "text": "why"},
        "TodoWrite": {"todos": []},
        "WebFetch": {"url": "https://example.org"},
        "Write": {"file_path": "a", "content": ""},
    }

    async def act(at: Bench) -> None:
        said = [name for name, each in given.items() if at.tools[name].use(each).in_conversation]
        assert said == ["AskUserQuestion", "KillShell", "Siding", "TodoWrite"]

    with_tools(place_in(tmp_path), act)
