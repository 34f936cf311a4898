"""Carry out what a person has answered on a card, as the command line and the dashboard do it.

The first answer counts: a later one is refused by `asking/answer.py`, and the refusal says so. All
of this reads and writes files, so it is called in a thread.
"""

from siding.applying.apply import ApplyRequest
from siding.applying.resolve import abort, continued
from siding.asking.answer import answer, cancel
from siding.asking.decisions.record import Via
from siding.asking.views import DecisionView
from siding.faces.tui.acts import workflows
from siding.faces.tui.acts.starting import retry_in_background
from siding.faces.tui.cards.card import CardAct, Wanted
from siding.faces.tui.cards.card_of import project_of
from siding.feed.model import Ask, AskKind
from siding.ground.errors import SidingError, UsageError
from siding.guard.hooks import repository_hooks, trust
from siding.record.place.project import Project
from siding.record.place.wiring import App
from siding.record.recording.calling_step import refuse_inside_step
from siding.running.apart import act_in_chat
from siding.running.checkpoint import checkpoint


class HooksChanged(SidingError):
    """The hooks are not those that were shown. Nothing was allowed."""

    code = "hooks_changed"


def carry_out(app: App, ask: Ask, wanted: Wanted) -> str:
    """Do what was answered, and return a sentence about it. Raises the errors of the act."""
    project, entry = project_of(app, ask.entry), ask.entry
    match wanted.act:
        case CardAct.ANSWER:
            answers = list(wanted.answers)
            return _said(answer(project, entry.session_id, answers, via=Via.TERMINAL))
        case CardAct.CANCEL:
            cancel(project, entry.session_id, reason=wanted.reason, via=Via.TERMINAL)
            return "the question is taken back"
        case CardAct.CONTINUE:
            return _continued(project, entry.task_id)
        case CardAct.TAKE_BACK:
            return f"the workspace is as before the merge: step {abort(project, entry.task_id).id}"
        case CardAct.RETRY:
            return retry_in_background(project, entry.task_id)
        case CardAct.RESUME:
            return workflows.resume(project, _workflow(ask))
        case CardAct.KILL:
            return workflows.kill(project, _workflow(ask))
        case CardAct.PUT_AWAY:
            return _put_away(project, ask)
        case CardAct.TRUST:
            return _trust(project, wanted)
        case CardAct.CHAT:
            _siding, _chat, *words = wanted.reason.split()
            return act_in_chat(project.app, project.paths.root, words) or "done"
        case CardAct.OPEN | CardAct.ATTACH:
            raise UsageError("this is for the screen itself")


def _continued(project: Project, task_id: str) -> str:
    done = continued(project, ApplyRequest(task=task_id))
    if done.step is None:
        return "nothing to apply: the branch has all of it already"
    closed = "; the task is closed" if done.closed is not None else ""
    return f"applied to {done.plan.target.branch or 'your checkout'}{closed}"


def _said(decision: DecisionView) -> str:
    shown = []
    for item in decision.items:
        labels = {option.value: option.label for option in item.options}
        values = ", ".join(labels.get(each, each) for each in item.values) or "none of them"
        shown.append(values if len(decision.items) == 1 else f"{item.id}: {values}")
    return f"answered: {'; '.join(shown)}"


def _workflow(ask: Ask) -> str:
    return ask.entry.page.rpartition("/")[2]


def _put_away(project: Project, ask: Ask) -> str:
    """Let what failed or was refused wait no more: a step says that it was seen."""
    if ask.kind is AskKind.WORKFLOW:
        return workflows.put_away(project, _workflow(ask))
    step = checkpoint(project, ask.entry.task_id, f"seen: {ask.entry.title[:200]}", wait=False)
    return f"put away: step {step.id} says that it was seen"


def _trust(project: Project, wanted: Wanted) -> str:
    refuse_inside_step(
        project,
        "what the repository brings is a person's to allow",
        hint="`siding trust` in a terminal of your own",
    )
    found = repository_hooks(project)
    if found.digest != wanted.reason:
        raise HooksChanged(
            "the hooks have changed since they were shown", hint="nothing was allowed; look again"
        )
    trust(project, found)
    return "allowed, as long as they stay exactly these"
