"""Judge what the agent of a run is about to do, and ask a person where the policy says so."""

from pathlib import Path
from typing import Any

from siding.adapters.agents.port import Report
from siding.adapters.agents.table import ANY, notes_of
from siding.app.broker.desk import Desk
from siding.app.broker.questions import ask_person, collect
from siding.app.broker.request import Request
from siding.app.decisions.question import Cancelled
from siding.app.policy.in_force import is_judged
from siding.app.policy.views import check_in
from siding.namedtuples import NamedTuple
from siding.policy.verdict import Action, Verdict

_YES, _NO = "run", "refuse"
_LONGEST_LINE = 256 << 10  # characters; the limit of `policy.check`
_SHOWN = 2000  # characters of a command in a question


class Judged(NamedTuple):
    """Whether a command or another tool may run, and why not. `asked`: a person was asked."""

    runs: bool
    action: str
    reason: str = ""
    asked: bool = False


def judged(desk: Desk, said: Report) -> Judged:
    """Judge a command or the use of a tool by the policy of the project, as `siding run` would.

    Where the policy asks, wait for the person's answer. A question is found again by the call that
    it is about. Raises RunOver and PeerGone.
    """
    if not is_judged(desk.project, desk.run.agent or ANY):
        return Judged(runs=True, action=Action.ALLOW.value)
    if len(said.command) > _LONGEST_LINE:
        return Judged(runs=False, action="block", reason="the command is too long to be judged")
    where = Path(said.cwd) if said.cwd else desk.workspace
    what = said.command if said.uses is None else said.uses
    notes = notes_of(desk.run.agent, str(desk.workspace))
    verdict = check_in(desk.project, desk.workspace, where, what, notes).verdict
    action = verdict.action.value
    if verdict.runs:
        return Judged(runs=True, action=action)
    why = _why(verdict)
    if verdict.action is not Action.ASK:
        return Judged(runs=False, action=action, reason=f"Siding's policy blocks this: {why}")
    if _says_yes(desk, said, why):
        return Judged(runs=True, action=action, asked=True)
    reason = f"a person was asked and refused: {why}"
    return Judged(runs=False, action=action, reason=reason, asked=True)


def _why(verdict: Verdict) -> str:
    worst = [each for each in verdict.findings if each.action is verdict.action]
    return "; ".join(dict.fromkeys(f"{each.reason} ({each.rule})" for each in worst))


def _says_yes(desk: Desk, said: Report, why: str) -> bool:
    agent = desk.run.agent or "the agent"
    title, shown, yes = f"May {agent} run this?", said.command, "Run it"
    if said.uses is not None:
        title, shown, yes = f"May {agent} do this?", said.uses.text, "Let it"
    question: dict[str, Any] = {
        "task": desk.task.name,
        "source": f"{desk.run.id}, {agent}",
        "items": [
            {
                "id": 1,
                "title": title,
                "context": f"{_as_code(shown[:_SHOWN])}\n\n{why}",
                "options": [
                    {"value": _YES, "label": yes},
                    {"value": _NO, "label": "Refuse it"},
                ],
            }
        ],
    }
    key = f"call {desk.run.id} {said.call}" if said.call else None
    fields = {"question": question, **({} if key is None else {"key": key})}
    try:
        answered = ask_person(desk, Request("ask", fields))
    except Cancelled:
        return False
    collect(desk, answered["session"])
    output = answered["output"] or {}
    return any(each.get("chosen") == _YES for each in output.get("decisions", ()))


def _as_code(command: str) -> str:
    """Return the command as Markdown that shows it as it is."""
    return "\n".join(f"    {line}" for line in command.splitlines())
