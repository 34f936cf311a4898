"""What an engine of sandboxes does, and what those who plan and start a run know of it."""

import os
from collections.abc import Callable
from typing import Protocol

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Command, SpawnPlan
from siding.ground.process.identity import boot_id
from siding.ground.process.lookup import Program
from siding.sandbox.engines.seccomp import Demand, compiled
from siding.sandbox.engines.values import Engine, Launch, Network, View

Trial = Callable[[Launch], str]  # runs `true` in a sandbox; "" or what went wrong
Hold = Callable[[int], int]  # keeps a descriptor open until the command is started, and returns it


class Known(NamedTuple):
    """A positive answer about a program; it holds as long as `circumstances` returns ``key``."""

    engine: Engine
    key: str
    program: str
    userns: bool
    scoped: bool

    def is_about(self, engine: Engine, key: str, program: str) -> bool:
        return (self.engine, self.key, self.program) == (engine, key, program)


class FoundEngine(NamedTuple):
    """The engine that works here; None, with a ``reason``, when none does.

    While the engines are asked, ``program`` is that of the one which is asked. The caller may keep
    ``known`` and pass it to the next `find_engine`.
    """

    engine: Engine | None
    program: str  # its absolute path; "" for none, or for an engine that is none
    userns: bool
    setsid: str
    reason: str  # why it is not the best one, "" when it is
    version: int  # of Landlock
    known: Known | None
    scoped: bool = False  # its program also works in a domain that blocks abstract sockets
    apart: bool = True  # a run has processes of its own, among which there are no others

    def without(self, why: str) -> "FoundEngine":
        """Return it with one more reason: why an engine, which was asked just now, does not work.

        The reason stands behind those of the better engines.
        """
        return self._replace(reason="; ".join(each for each in (self.reason, why) if each))

    def launch(self, view: View, network: Network, env: tuple[tuple[str, str], ...] = ()) -> Launch:
        """Return how a command is started with this engine; there is one."""
        assert self.engine is not None
        return Launch(
            engine=self.engine,
            view=view,
            network=network,
            seccomp=filter_of(network, apart=self.apart),
            setsid=self.setsid,
            program=self.program,
            userns=self.userns,
            nobody=os.geteuid() == 0,
            scoped=self.scoped,
            env=env,
        )


def circumstances(program: str) -> str:
    """Return a key of what an answer about a program depends on: it, this boot and this user."""
    seen = os.stat(program)
    kernel = os.uname().release
    return f"{boot_id()}:{kernel}:{os.geteuid()}:{program}:{seen.st_size}:{seen.st_mtime_ns}"


def filter_of(network: Network, *, apart: bool) -> bytes:
    """Return the system call filter of a run here; b"" where none is known for this machine."""
    demand = Demand(
        network_off=network is Network.OFF,
        as_root=os.geteuid() == 0,
        among_others=not apart,
    )
    return compiled(os.uname().machine, demand)


class Planned(NamedTuple):
    """How a command is started in a sandbox.

    `told` is the descriptor at which the engine says how the command ended, -1 for none: lines of
    JSON as bwrap writes them (`--json-status-fd`), which `start.py` reads.
    `is_outdated` tells whether it fails because something is gone that it was told to hide.
    """

    spawn: SpawnPlan
    told: int = -1
    is_outdated: Callable[[], bool] = lambda: False


class Presence(NamedTuple):
    """Whether an engine is there, for `siding doctor --sandbox`."""

    what: str
    holds: bool
    detail: str


class SandboxEngine(Protocol):
    """One engine; `table.py` has them all, the best first."""

    name: Engine
    program: str  # the name by which its program is found on the search path; "": it is none
    # It lays other files over the disk of a run: copies, links, empty directories. An engine that
    # does not, allows and closes whole trees of the disk that is there.
    mounts: bool
    apart: bool  # a run has processes and, if it is asked for, a network of its own
    is_warden: bool  # our child is the engine's program, and the command is started by that
    left_open: str  # what to tell the person of its gaps; {} is why there is no better engine

    def found(self, here: FoundEngine, known: Known | None, tried: Trial) -> FoundEngine:
        """Return what is known of this machine, with this engine if it works.

        ``here.program`` is where its program was found, "" if it was not. If the engine does not
        work, return `here.without` with why. A positive answer of it may come back as `known`.
        """
        ...

    def plan(
        self, launch: Launch, command: Command, program: Program, *, tty: bool, hold: Hold
    ) -> Planned:
        """Return what is started in place of the command. Raises OSError."""
        ...

    def not_covered(
        self, found: FoundEngine, network: Network, *, filtered: bool
    ) -> tuple[str, ...]:
        """Return what it leaves open on this machine, one phrase each, for the step's record."""
        ...

    def presence(self, found: FoundEngine) -> Presence:
        """Return whether it is there."""
        ...
