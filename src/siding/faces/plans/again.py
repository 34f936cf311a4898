"""Going back to before a prompt, and doing a step again: what that would do, and going back."""

from shlex import join

from siding.faces.plans.plan import ActDone, ActPlan, ActRequest, digest_of, listed, meanwhile
from siding.faces.plans.undo import survey_plan
from siding.ground.errors import counted
from siding.ground.ids import Sha, TaskId
from siding.record.place.project import Project
from siding.record.place.task_workspace import require_workspace
from siding.record.restoring.rollback import RollbackRequest, preview, rollback
from siding.record.restoring.survey import Destination, RestoreRequest, previewed
from siding.undo.retry import PlannedRetry, RetryRequest, plan_retry, send_again
from siding.undo.rewind import Prompt, find_prompt, prompts

_NAMED = 6  # steps that are left behind


def plan_rewind(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    prompt = _prompt(project, task_id, wish)
    with preview(project, _back_to(task_id, wish, prompt)) as survey:
        title = f"Go back to before {prompt.title!r}"
        made = survey_plan("rewind", title, prompt.title, survey, wish)
    return made._replace(notes=(*made.notes, *_agent_is_told(prompt)))


def _prompt(project: Project, task_id: TaskId, wish: ActRequest) -> Prompt:
    return find_prompt(prompts(project, task_id), wish.step or "last")


def _back_to(task_id: TaskId, wish: ActRequest, prompt: Prompt) -> RollbackRequest:
    return RollbackRequest(step=prompt.before, task=task_id, force=wish.force)


def _agent_is_told(prompt: Prompt) -> tuple[str, ...]:
    if prompt.lives:
        return (f"{prompt.agent or 'the agent'} ({prompt.lives}) is told with its next prompt",)
    return ()


def do_rewind(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    prompt = _prompt(project, task_id, wish)
    done = rollback(project, _back_to(task_id, wish, prompt))
    step = done.restored.step
    return ActDone(f"back to before {prompt.title!r}{meanwhile(project, step)}", step.id)


def told_rewind(named: str, wish: ActRequest, shown: ActPlan) -> str:
    return listed(f"take {named} back to before {shown.target!r}", "by force" if wish.force else "")


def request_of_retry(task_id: TaskId, wish: ActRequest, *, at_terminal: bool) -> RetryRequest:
    """Return what is done again: the step that is named, else the newest run or prompt."""
    return RetryRequest(
        step=wish.step or None,
        argv=wish.argv,
        task=task_id,
        force=wish.force,
        at_terminal=at_terminal,
    )


def plan_again(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    """Return what a retry would do: which files go back, which steps are left, what runs then."""
    found = plan_retry(project, request_of_retry(task_id, wish, at_terminal=True))
    workspace = require_workspace(project, found.task)
    before = found.before
    name = f"the state before step {found.step.id}"
    there = Destination(Sha(before.snapshot), name, before.coverage)
    with previewed(project, workspace, there, RestoreRequest(force=wish.force)) as survey:
        made = survey_plan("retry", f"Do step {found.step.id} again", name, survey, wish)
    notes = (*made.notes, *_leaves(found))
    says = [made.digest, found.run.argv, found.sends_to, [each.id for each in found.leaves]]
    return made._replace(
        sentence=f"{made.sentence}; then {_then(found)}",
        notes=notes,
        nothing=False,
        digest=digest_of(says),
    )


def _then(found: PlannedRetry) -> str:
    if found.sends_to:
        return f"{found.sends_to} is given the prompt {found.prompt!r} again"
    return f"runs: {join(found.run.argv)}"


def _leaves(found: PlannedRetry) -> tuple[str, ...]:
    named = [f"{each.id} {each.title.partition(chr(10))[0][:40]}" for each in found.leaves]
    if not named:
        return ()
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    many = counted(len(named), "step")
    return (f"{many} left behind: {', '.join(named[:_NAMED])}{more}",)


def do_again(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    """Give a living agent its prompt again. What runs a command needs a terminal: `plan_retry`."""
    found = plan_retry(project, request_of_retry(task_id, wish, at_terminal=True))
    assert found.sends_to, "a command is run by the screen, in its terminal"
    is_told = send_again(project, found, force=wish.force)
    waits = "" if is_told else "; it has not begun on it yet"
    return ActDone(f"sent to {found.sends_to}: {found.prompt}{waits}", None)


def told_again(named: str, _wish: ActRequest, shown: ActPlan) -> str:
    return listed(f"do {shown.target} of {named} again")
