"""Questions of a workflow to a person: decisions as all others, in inbox and dashboard.

A question has a key made of the run and its place in the script, so a run that was cut off finds
its question again, or the answer.
"""

import asyncio
from typing import Any

from siding.asking.lookup import list_decisions
from siding.asking.question import Cancelled as DecisionCancelled
from siding.asking.question import NotAnswered, ask, output_or_raise, wait
from siding.asking.views import DecisionView
from siding.ground.errors import SidingError
from siding.ground.hashing import sha256_hex
from siding.ground.storage.fields import mappings, text
from siding.ground.storage.writes import encode_line
from siding.record.place.project import Project
from siding.workflows.engine.ports import Cancelled, Question

_LOOK_S = 0.5  # how long a thread waits at a time, so that a run that is ended ends


class DecidingPeople:
    """Asks the person who owns the project."""

    def __init__(self, project: Project, run_id: str, task_id: str, name: str) -> None:
        self._project = project
        self._run_id = run_id
        self._task_id = task_id
        self._name = name

    async def ask(self, question: Question) -> Any:
        """Return the answer: the chosen option, or a text; a list if several may be chosen."""
        try:
            asked = await asyncio.to_thread(self._ask, question)
        except SidingError as error:
            raise Cancelled(f"the question cannot be asked: {error.message}") from None
        loop = asyncio.get_running_loop()
        until = None if question.timeout_s is None else loop.time() + question.timeout_s
        while True:
            answer = await asyncio.to_thread(self._look, asked)
            if answer is not None:
                return _chosen(question, answer)
            if until is not None and loop.time() >= until:
                raise Cancelled(f"nobody has answered within {question.timeout_s:g} s")

    def _ask(self, question: Question) -> str:
        request = _request(question, self._name)
        what = sha256_hex(encode_line(request))[:16]  # an edited script may ask another one here
        key = f"{_keys_of(self._run_id)}{question.path}:{what}"
        asked = ask(self._project, request, key=key, task_id=self._task_id)
        return asked.decision.session_id

    def _look(self, session: str) -> dict[str, Any] | None:
        try:
            return output_or_raise(wait(self._project, session, timeout_s=_LOOK_S))
        except NotAnswered:
            return None
        except DecisionCancelled as error:
            raise Cancelled(error.message) from None


def questions_of(project: Project, run_id: str) -> list[DecisionView]:
    """Return the questions of a run that wait for an answer, oldest first."""
    open_ones, _problems = list_decisions(project)
    return [each for each in open_ones if each.key.startswith(_keys_of(run_id))]


def _keys_of(run_id: str) -> str:
    return f"workflow:{run_id}:"


def _request(question: Question, name: str) -> dict[str, Any]:
    item: dict[str, Any] = {"id": 1, "title": question.question}
    if question.context:
        item["context"] = question.context
    if question.options:
        item["options"] = [{"value": each, "label": each} for each in question.options]
        if question.multiple:
            item["kind"] = "multiple"
        if question.recommend in question.options:
            item["recommend"] = [question.recommend] if question.multiple else question.recommend
    else:
        item["kind"] = "text"
    return {"task": f"workflow {name}", "source": "workflow", "items": [item]}


def _chosen(question: Question, output: dict[str, Any]) -> Any:
    decision = next(iter(mappings(output.get("decisions"))), {})
    if question.multiple:
        return [text(value) for value in decision.get("values", ())]
    return text(decision.get("chosen"))
