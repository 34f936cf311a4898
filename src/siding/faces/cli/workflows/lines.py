"""The lines about a run of a workflow: how it goes, and how it ended."""

from collections.abc import Mapping
from json import dumps
from typing import Any

from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.faces.cli.screen.words import duration
from siding.ground.errors import counted
from siding.workflows.acts.views import (
    AgentDone,
    AgentRetry,
    AgentStarted,
    AgentState,
    Asked,
    Event,
    Logged,
    PhaseStarted,
    RunDone,
    RunStarted,
    RunState,
    RunStatus,
    format_dollars,
    format_token_count,
    way_on,
)

MARKS = {"running": "●", "ok": "✓", "skipped": "-", "dead": "✗", "": "○"}


_COLOURS = {"running": "cyan", "ok": "green", "skipped": "dim", "dead": "red", "": "dim"}


_STATUS_COLOURS = {
    RunStatus.RUNNING: "cyan",
    RunStatus.COMPLETED: "green",
    RunStatus.FAILED: "red",
    RunStatus.KILLED: "yellow",
    RunStatus.INTERRUPTED: "yellow",
}


_NAME_COLUMNS = 28


class RunLines:
    """Tells a run as it goes: a line for each thing that happens."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def __call__(self, event: Event, state: RunState) -> None:
        try:
            self._tell(event, state)
        except OSError:
            pass  # the terminal was closed; the run goes on

    def _tell(self, event: Event, state: RunState) -> None:
        screen = self._screen
        match event:
            case RunStarted(resumed=True):
                screen.note("going on with what is recorded")
            case PhaseStarted(phase=phase):
                screen.note(f"── {inert(phase)}", "bold")
            case AgentStarted(id=number):
                screen.note(agent_line(_agent(state, number)), "dim")
            case AgentRetry():
                pass  # the warning that comes with it says it
            case AgentDone(id=number):
                agent = _agent(state, number)
                screen.note(agent_line(agent), _COLOURS[agent.result])
            case Asked(is_answered=False, question=question):
                screen.note(f"? waits for you: {inert(question)} (siding inbox)", "yellow")
            case Logged(is_warning=True, message=message):
                screen.warn(inert(message))
            case Logged(message=message):
                screen.note(inert(message))
            case RunDone():
                screen.note(run_line(state), _STATUS_COLOURS[state.status])
                self._say_error(state)
        if not state.is_over:
            screen.progress(_doing(state))

    def _say_error(self, state: RunState) -> None:
        if state.error:
            where = f"line {state.error_line}: " if state.error_line else ""
            self._screen.note(f"{where}{inert(state.error)}", "red")
        if said := way_on(state):
            self._screen.note(said)


def agent_line(agent: AgentState) -> str:
    """Return one agent in a line: mark, name, how it came out, what it used."""
    kind = "running" if agent.status == "running" else agent.result
    parts = [f"{MARKS[kind]} {shorten(inert(agent.name), _NAME_COLUMNS):<{_NAME_COLUMNS}}"]
    if agent.status != "running":
        parts.append(_how(agent))
    if agent.used.model:
        parts.append(inert(agent.used.model))
    if agent.used.tokens:
        parts.append(f"{format_token_count(agent.used.tokens)} tok")
    if agent.used.tools:
        parts.append(counted(agent.used.tools, "tool"))
    if agent.used.dollars is not None:
        parts.append(format_dollars(agent.used.dollars))
    if agent.ended_at and agent.started_at:
        parts.append(duration(agent.ended_at - agent.started_at))
    if agent.work.step:
        of_fork = f" of {agent.work.fork}" if agent.work.fork else ""
        parts.append(f"step {agent.work.step}{of_fork}")
    return "  ".join(parts).rstrip()


def run_line(state: RunState) -> str:
    """Return a run in a line: how it stands, its agents, what they used."""
    dead = sum(agent.result == "dead" for agent in state.agents)
    parts = [f"{inert(state.name)} {state.run_id} {state.status}"]
    parts.append(counted(len(state.agents), "agent") + (f", {dead} failed" if dead else ""))
    if state.replayed:
        parts.append(f"{state.replayed} from the record")
    if state.tokens:
        parts.append(f"{format_token_count(state.tokens)} tokens")
    if state.dollars is not None:
        parts.append(format_dollars(state.dollars))
    if state.started_at and state.updated_at:
        parts.append(duration(state.updated_at - state.started_at))
    return " · ".join(parts)


def status_text(screen: Screen, status: RunStatus) -> str:
    """Return a status for standard output, coloured."""
    return screen.style(str(status), _STATUS_COLOURS[status])


def result_text(value: Any) -> str:
    """Return what a script returned: a text as it is, everything else as JSON."""
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False, indent=2)


def _how(agent: AgentState) -> str:
    if agent.result == "dead":
        detail = f": {shorten(inert(agent.detail), 60)}" if agent.detail else ""
        return f"{agent.reason or 'failed'}{detail}"
    if agent.result == "skipped":
        return "skipped"
    return f"{agent.shape} (recorded)" if agent.is_replayed else agent.shape


def _agent(state: RunState, number: int) -> AgentState:
    return next(agent for agent in state.agents if agent.id == number)


def _doing(state: RunState) -> str:
    running = [agent.name for agent in state.agents if agent.status == "running"]
    done = state.counted("done")
    names = ", ".join(inert(name) for name in running[:3]) + (" …" if len(running) > 3 else "")
    if state.waits:
        return "waits for a person"
    return f"{done}/{len(state.agents)} done · {names}" if running else ""


_STATUSES = {"completed": 0, "failed": 1, "killed": 130}


_EXIT = "exit"  # the key of a result that says with which status the command ends


_MOST = 125  # shells have meanings of their own for what is above


def say_end(screen: Screen, done: RunDone) -> int:
    """Print what the script returned; return the exit status."""
    screen.progress("")
    if done.resume is not None and done.resume.not_reached:
        agents = ", ".join(f"#{number}" for number in done.resume.not_reached)
        screen.warn(f"these agents were chosen and not reached: {agents}")
    if done.status == "completed" and done.value is not None:
        screen.print(inert(result_text(done.value), lines=True))
    return status_of(done)


def status_of(done: RunDone) -> int:
    """Return the exit status: red is not 0, though the script came to its end."""
    if done.status == "completed" and isinstance(done.value, Mapping):
        status = done.value.get(_EXIT)
        if isinstance(status, int) and not isinstance(status, bool):
            return min(abs(status), _MOST)
    return _STATUSES[done.status]
