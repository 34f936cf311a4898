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
from siding.asking.views import DecisionView
from siding.chat.ask_judge import AskJudge
from siding.chat.asks import AlwaysOffer, answer_of, question_of, scope_of
from siding.chat.events import Put
from siding.chat.store import Chat
from siding.chat.talk import Lasting
from siding.effect.ask import Counting, begin
from siding.effect.count import Asked as AskedEffect
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.tasks.task import Task

# Called in the thread: which ask, the answer, who gave it, and for how long it counts.
OnAnswer = Callable[[str, Answer, str, Lasting], None]


_ONCE = Lasting()


class Asking(NamedTuple):
    """Which agent asks, in which run, and where it works."""

    run: str
    agent: str
    workspace: Path


class _Withdrawn(Exception):
    """Nobody needs the answer any more."""


class Waiter:
    """One ask, from the agent to a person and back."""

    def __init__(
        self,
        project: Project,
        task: Task,
        chat: Chat,
        asking: Asking,
        asked: Asked,
        *,
        on_put: Callable[[Put], None],
        on_answer: OnAnswer,
    ) -> None:
        env = {**project.app.env, "SIDING_TASK_ID": task.id, "SIDING_RUN_ID": asking.run}
        # The question is one of the run, and ends with it. Stores are of one thread.
        self._project = Project(project.app._replace(env=env), project.layout, project.paths)
        self._task, self._asked = task, asked
        self._run, self._agent, self._workspace = asking
        self._judge = AskJudge(
            self._project, task, chat, agent=asking.agent, workspace=asking.workspace
        )
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
            found = self._judge.judge(self._asked)
            if found.refusal:
                self._answer(Answer(allows=False, reason=found.refusal), "policy")
            elif found.allowed.lasts:
                self._answer(Answer(allows=True), "siding", found.allowed)
            else:
                self._ask_person(found.offer)
        except (SidingError, OSError) as error:
            reason = f"nobody could be asked: {error}"
            self._answer(Answer(allows=False, reason=reason), "siding")

    def _answer(self, answer: Answer, by: str, lasting: Lasting = _ONCE) -> None:
        self._on_answer(self._asked.ask, answer, by, lasting)

    def _ask_person(self, offer: AlwaysOffer) -> None:
        asked, project = self._asked, self._project
        source = f"{self._run}, {self._agent}"
        question = question_of(asked, offer, task=self._task.name, source=source, agent=self._agent)
        key = key_of_call(self._task.id, self._run, asked.ask)
        with Notifier(project) as notifier:
            put = ask(project, question, key=key, task_id=self._task.id)
        session = put.decision.session_id
        notifier.deliver(url=page_of(project, put.decision))
        self._on_put(Put(asked.ask, session, tuple(map(str, offer.scopes)), offer.may))
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
        self._decided(decision, offer)

    def _decided(self, decision: DecisionView, offer: AlwaysOffer) -> None:
        """Give the agent the answer. What is to count for longer is on the disk before."""
        answer, by = answer_of(self._asked, decision), decision.how_closed
        scope = scope_of(self._asked, decision) if answer.allows else None
        lasting = _ONCE
        if scope is not None:
            why_not = self._judge.keep(offer, scope, by)
            if why_not:
                answer = answer._replace(reason=why_not)
            else:
                lasting = Lasting(scope.value, offer.may)
        self._answer(answer, by, lasting)

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
