"""The tool AskUserQuestion: ask the person, and wait."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from siding.assistant.tools.place import NobodyAnswers, Place
from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.spec import failed, flag, part, several, spec_of, text

_MOST_QUESTIONS = 4
_LONGEST_HEADER = 30
_NOBODY = (
    "Go on without an answer: take the choice that can be taken back most easily, and say at the "
    "end what you have assumed."
)


class AskUserQuestion:
    """Puts questions through the port `Asker`."""

    def __init__(self, place: Place) -> None:
        self._place = place
        option = part(
            {"label": text("the answer", minLength=1), "description": text("what it comes to")},
            "label",
            "description",
        )
        question = part(
            {
                "question": text("the whole question", minLength=1),
                "header": text("a word or two for it", maxLength=_LONGEST_HEADER),
                "options": several("the answers", option, minItems=2, maxItems=4),
                "multiSelect": flag("several answers can be chosen (false)"),
            },
            "question",
            "header",
            "options",
        )
        self.spec = spec_of(
            __file__,
            "AskUserQuestion",
            {"questions": several("the questions", question, minItems=1, maxItems=_MOST_QUESTIONS)},
            "questions",
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return False  # one after the other: a person reads one screen

    def use(self, given: Mapping[str, Any]) -> Use:
        question = given["questions"][0]["question"]
        return Use(text=f"AskUserQuestion {question[:120]}", in_conversation=True)

    async def run(self, call: Call) -> Result:
        questions = call.given["questions"]
        problem = _problem(questions)
        if problem:
            return failed(f"{problem} Nothing was asked.")
        if self._place.asker is None:
            return _unanswered("There is nobody to ask here.")
        try:
            answers = dict(await self._place.asker.ask(call.id, questions))
        except NobodyAnswers as nobody:
            return _unanswered(str(nobody) or "Nobody has answered.")
        lines = [f"{each['question']}\n→ {_answer(answers, each)}" for each in questions]
        details = {"questions": list(questions), "answers": answers}
        return Result("\n".join(lines), shown="answered", details=details)


def _problem(questions: list[Mapping[str, Any]]) -> str:
    """Return why the answers could not be told apart; "" if they can."""
    twice = _twice([each["question"] for each in questions])
    if twice:
        return f"The question {twice!r} is there twice."
    for each in questions:
        twice = _twice([option["label"] for option in each["options"]])
        if twice:
            return f"The answer {twice!r} is there twice."
    return ""


def _twice(texts: list[str]) -> str:
    return next((text for text, count in Counter(texts).items() if count > 1), "")


def _answer(answers: Mapping[str, str], question: Mapping[str, Any]) -> str:
    return answers.get(question["question"]) or "(no answer)"


def _unanswered(why: str) -> Result:
    return Result(f"{why} {_NOBODY}", shown="nobody to ask", details={"answers": {}})
