"""Which runs to resume, and what of their record counts, as a person says it."""

from siding.ground.errors import UsageError
from siding.record.place.project import Project
from siding.workflows.acts.finding import FoundScript
from siding.workflows.acts.running import folders
from siding.workflows.acts.trusting import not_trusted_in
from siding.workflows.resume import Policy, Scope, agent_range, chosen_agents
from siding.workflows.script import read_script
from siding.workflows.state import RunStatus


def policy_from_words(*, anew: bool, agents: str | None) -> Policy:
    """Return the policy of ``--anew`` and ``--agents 2,5`` or ``3-7``. Raises BadResume."""
    if anew and agents is not None:
        raise UsageError("--anew runs all agents again, so --agents says nothing more")
    if anew:
        return Policy(scope=Scope.ALL)
    if agents is None:
        return Policy()
    first, dash, last = agents.partition("-")
    if dash:
        return agent_range(_number(first), _number(last))
    return chosen_agents([_number(word) for word in agents.split(",")])


def interrupted(project: Project) -> list[str]:
    """Return the ids of the runs that no process works on and that have not ended, oldest first."""
    found = [
        (state.started_at, state.run_id)
        for _folder, state in folders(project).states()
        if state.status is RunStatus.INTERRUPTED
    ]
    return [run_id for _started, run_id in sorted(found)]


def called_again(project: Project, run_id: str, source: str | None) -> list[FoundScript]:
    """Return the workflows that a run's script calls and that nobody has allowed yet.

    `source` is the script in the place of the run's own. Raises WorkflowNotFound, ScriptError.
    """
    script = folders(project).find(run_id).source() if source is None else source
    return not_trusted_in(project, read_script(script))


def _number(word: str) -> int:
    if not word.strip().isdigit():
        raise UsageError(f"{word!r} is no id of an agent", hint="--agents 2,5 or --agents 3-7")
    return int(word)
