"""Wait for a person's answer to what an agent asks: a thread for each ask, with its own stores."""

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from siding.agents.talking.port import Answer, Asked
from siding.asking.kinds import end_question, key_of_call
from siding.asking.lookup import decision_store
from siding.asking.notifier import Notifier
from siding.asking.question import ask, page_of, wait
from siding.chat.asks import answer_of, question_of
from siding.effect.ask import Counting, begin
from siding.effect.count import Asked as AskedEffect
from siding.ground.errors import SidingError
from siding.guard.in_force import is_judged
from siding.guard.views import check_in
from siding.record.place.project import Project
from siding.record.tasks.task import Task

# Called in the thread: which ask, the answer, and who gave it.
OnAnswer = Callable[[str, Answer, str], None]


class _Withdrawn(Exception):
    """Nobody needs the answer any more."""


class Waiter:
    """One ask, from the agent to a person and back."""

    def __init__(
        self,
        project: Project,
        task: Task,
        run_id: str,
        agent: str,
        asked: Asked,
        *,
        workspace: Path,
        on_put: Callable[[str, str], None],
        on_answer: OnAnswer,
    ) -> None:
        env = {**project.app.env, "SIDING_TASK_ID": task.id, "SIDING_RUN_ID": run_id}
        # The question is one of the run, and ends with it. Stores are of one thread.
        self._project = Project(project.app._replace(env=env), project.layout, project.paths)
        self._task, self._run, self._agent, self._asked = task, run_id, agent, asked
        self._workspace = workspace
        self._on_put, self._on_answer = on_put, on_answer
        self._gone = threading.Event()
        self._why = ""
        self._thread = threading.Thread(target=self._work, name="siding: ask", daemon=True)
        self._thread.start()

    def withdraw(self, why: str) -> None:
        """End the question: nobody needs its answer any more."""
        self._why = why
        self._gone.set()

    def join(self) -> None:
        self._thread.join()

    def _work(self) -> None:
        try:
            refusal = self._refusal()
            if refusal:
                self._on_answer(self._asked.ask, Answer(allows=False, reason=refusal), "policy")
                return
            self._ask_person()
        except (SidingError, OSError) as error:
            reason = f"nobody could be asked: {error}"
            self._on_answer(self._asked.ask, Answer(allows=False, reason=reason), "siding")

    def _refusal(self) -> str:
        """Return why the policy does not let the command run, whatever a person says."""
        if not self._asked.command or not is_judged(self._project, self._agent):
            return ""
        where = Path(self._asked.cwd) if self._asked.cwd else self._workspace
        verdict = check_in(self._project, self._workspace, where, self._asked.command, ()).verdict
        if verdict.runs or verdict.action.value == "ask":
            return ""
        why = "; ".join(f"{each.reason} ({each.rule})" for each in verdict.findings)
        return f"Siding's policy blocks this: {why}"

    def _ask_person(self) -> None:
        asked, project = self._asked, self._project
        question = question_of(
            asked, task=self._task.name, source=f"{self._run}, {self._agent}", agent=self._agent
        )
        key = key_of_call(self._task.id, self._run, asked.ask)
        with Notifier(project) as notifier:
            put = ask(project, question, key=key, task_id=self._task.id)
        session = put.decision.session_id
        notifier.deliver(url=page_of(project, put.decision))
        self._on_put(asked.ask, session)
        counting = self._begin_effect(session)
        try:
            decision = wait(project, session, sleep=self._sleep)
        except _Withdrawn:
            with suppress(SidingError, OSError):
                end_question(project, decision_store(project).load(session), self._why)
            return
        finally:
            if counting is not None:
                counting.end()
        self._on_answer(asked.ask, answer_of(asked, decision), decision.how_closed)

    def _begin_effect(self, session: str) -> Counting | None:
        if not self._asked.command:
            return None
        cwd = Path(self._asked.cwd) if self._asked.cwd else self._workspace
        with suppress(SidingError, OSError, ValueError):
            about = AskedEffect(session, self._asked.command, cwd)
            return begin(self._project, self._task.id, about)
        return None

    def _sleep(self, seconds: float) -> None:
        if self._gone.wait(seconds):
            raise _Withdrawn
