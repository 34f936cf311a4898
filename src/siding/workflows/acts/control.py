"""Control a run from another process: kill it, or skip, retry or kill one of its agents.

The process that works on the run listens at a socket in the run's folder. Each connection is one
line of JSON and one line back.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from siding.ground.errors import SidingError, UsageError
from siding.ground.process.control.frames import accept_from, connect_to, listen_at
from siding.ground.storage.codec import NotJson, parse_object
from siding.record.place.project import Project
from siding.record.unfinished.live_workflows import LiveWorkflow, live_workflows
from siding.workflows.engine.ports import Control
from siding.workflows.errors import RunNotAnswering, WorkflowNotFound
from siding.workflows.store import RunFolder, RunFolders

if TYPE_CHECKING:
    from siding.workflows.engine.engine import Engine
    from siding.workflows.state import RunState

_LONGEST_LINE = 1 << 16
_PATIENCE_S = 60.0  # each agent gets some seconds to end what it began
_LOOK_S = 0.05


def agent_in(state: "RunState", named: str) -> int:
    """Return the number of an agent that is given by its number or its name."""
    if named.isdecimal():
        return int(named)
    found = [agent for agent in state.agents if agent.name == named]
    at_work = [agent for agent in found if agent.status == "running"] or found
    if len(at_work) == 1:
        return at_work[0].id
    if found:
        numbers = ", ".join(str(agent.id) for agent in at_work)
        raise UsageError(f"{named!r} is the name of agents {numbers}", hint="give the number")
    known = ", ".join(f"{agent.id} {agent.name}" for agent in state.agents)
    raise UsageError(
        f"no agent of this run is called {named!r}",
        hint=f"there are: {known}" if known else "it has started none yet",
    )


class ControlServer:
    """Answers requests about an engine, in the engine's event loop."""

    def __init__(self, folder: RunFolder, engine: "Engine") -> None:
        self._folder = folder
        self._engine = engine
        self._listener = listen_at(folder.socket)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._listener.fileno(), self._accept)

    def close(self) -> None:
        """Listen no more."""
        self._loop.remove_reader(self._listener.fileno())
        self._listener.close()
        with suppress(OSError):
            self._folder.socket.unlink()

    def _accept(self) -> None:
        try:
            peer = accept_from(self._listener)
        except OSError:
            return
        if peer is None:
            return
        received = bytearray()

        def read() -> None:
            try:
                data = peer.recv(4096)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            received.extend(data)
            if data and b"\n" not in received and len(received) < _LONGEST_LINE:
                return
            self._loop.remove_reader(peer.fileno())
            with suppress(OSError):
                peer.send(json.dumps(self._answer(bytes(received))).encode() + b"\n")
            peer.close()

        self._loop.add_reader(peer.fileno(), read)

    def _answer(self, line: bytes) -> Mapping[str, Any]:
        try:
            request = parse_object(line)
            wanted = str(request.get("do"))
            number = request.get("agent")
            if wanted == "kill" and number is None:
                self._engine.stop()
                return {"hit": True}
            return {"hit": self._engine.control(int(str(number)), Control(wanted))}
        except (NotJson, ValueError) as error:
            return {"hit": False, "error": str(error)}


def request(folder: RunFolder, do: str, agent: int | None = None) -> bool:
    """Ask the process that works on a run; return whether there was something to do it to.

    Raises WorkflowNotFound if no process works on it, and RunNotAnswering.
    """
    try:
        peer = connect_to(folder.socket)
    except OSError:
        raise WorkflowNotFound(
            f"no process works on the run {folder.run_id}",
            hint=f"`siding workflow show {folder.run_id}` shows how it ended",
        ) from None
    asked = {"do": do, **({} if agent is None else {"agent": agent})}
    answer = bytearray()
    with closing(peer):
        try:
            peer.sendall(json.dumps(asked).encode() + b"\n")
            while data := peer.recv(4096):
                answer += data
        except TimeoutError:
            raise _not_answering(folder) from None
    return bool(json.loads(answer or b"{}").get("hit"))


def _not_answering(folder: RunFolder) -> RunNotAnswering:
    holder = folder.lock().holder()
    pid = "PID" if holder is None else holder.pid
    return RunNotAnswering(
        f"the process that works on the run {folder.run_id} does not answer",
        hint=f"it may be stopped: `kill -CONT {pid}` lets it go on; after `kill -9 {pid}` the run"
        " can be resumed",
    )


class NotEnded(SidingError):
    """A run of a workflow does not end."""

    code = "workflow_not_ended"


def end_workflows(project: Project, task_id: str) -> list[LiveWorkflow]:
    """End the workflows that run in a task; return them. Raises NotEnded."""
    ended = list(live_workflows(project, task_id))
    runs = RunFolders.of(project)
    for each in ended:
        folder = runs.find(each.run_id)
        until = time.monotonic() + _PATIENCE_S
        while folder.is_live():
            try:
                request(folder, "kill")
            except (WorkflowNotFound, RunNotAnswering, OSError):
                pass  # it does not listen yet, or no more, or is stopped
            if time.monotonic() > until:
                raise NotEnded(
                    f"the workflow {each.name!r} ({each.run_id}) does not end",
                    hint=f"`siding workflow show {each.run_id}` shows what it is at",
                )
            time.sleep(_LOOK_S)
    return ended
