"""What a run is to do, and what it does it with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.workflows.child.fingerprint import fingerprint
from siding.workflows.engine.ports import Agents, People, ScriptProcess, Sources, Workspaces
from siding.workflows.events import Emit
from siding.workflows.journal.store import Recorded
from siding.workflows.limits import Limits
from siding.workflows.resume import Policy
from siding.workflows.retrying import Retrying
from siding.workflows.script import Script


class RunPlan(NamedTuple):
    """One run, or its resumption: then the journal has what it did before.

    `retries_script` lets a script whose process died run once more from its record. `keeps_dead`
    makes no agent again that gave no result. `answered` are the calls, path and name, that were
    seen to be answered: without them the journal is damaged, unless the run `accepts_losses`.
    """

    script: Script
    journal: Path
    args: Any = None
    name: str = ""
    limits: Limits = Limits()
    retrying: Retrying = Retrying()
    policy: Policy = Policy()
    retries_script: bool = True
    script_silence_s: float = 120.0
    keeps_dead: bool = False
    answered: tuple[tuple[str, str], ...] = ()
    accepts_losses: bool = False

    @property
    def shown_name(self) -> str:
        """The name that was given, else the script's own."""
        return self.name or (self.script.meta.name if self.script.meta else "workflow")

    @property
    def args_hash(self) -> str:
        """The hash of the arguments. Raises TypeError and ValueError for what JSON cannot hold."""
        return fingerprint("args", {"args": self.args})

    @property
    def script_hash(self) -> str:
        return sha256_hex(self.script.source.encode())

    @property
    def key(self) -> str:
        """What makes two attempts the same; see `AttemptLine.key`."""
        return f"{self.script_hash} {self.args_hash}"

    def is_same_script(self, recorded: Recorded) -> bool:
        """Tell whether the run did the same before, so that every call must be the same again."""
        if not recorded.attempts:
            return False
        return recorded.attempts[-1].key == self.key


class Ports(NamedTuple):
    """The world of a run. `now` is in seconds since 1970, `random` from 0 to 1."""

    agents: Agents
    people: People
    workspaces: Workspaces
    sources: Sources
    start_script: Callable[[], ScriptProcess]
    emit: Emit
    now: Callable[[], float]
    random: Callable[[], float]
    stamp: Callable[[], str]  # the time as records have it
