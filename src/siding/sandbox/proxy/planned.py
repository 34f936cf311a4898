"""Decide what of a run goes through a proxy of its own: requests to models, or all it sends."""

import os

from siding.agents.table import BY_PROGRAM
from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.sandbox.engines.values import Network
from siding.sandbox.sandbox import SandboxPlan


class WirePlan(NamedTuple):
    """What the proxy of a run does. `agent` is the name of the agent that is metered, "" for none
    that is known. `hosts` are the entries of the list of a sandbox, None without one."""

    meters: bool
    agent: str = ""
    hosts: tuple[str, ...] | None = None


def wire_plan(
    project: Project, program: str, asked: bool | None, sandbox: SandboxPlan, *, is_recorded: bool
) -> WirePlan | None:
    """Return what goes through a proxy, None for nothing.

    `asked` is what the command line says of metering; None: it is as set, for agents. Raises
    UsageError if that cannot be.
    """
    agent = BY_PROGRAM.get(os.path.basename(program))
    meters = asked
    if meters is None:
        meters = project.settings.agents_meter and agent is not None and is_recorded
    if meters and not is_recorded:
        raise UsageError(
            "--meter keeps what it counts in the step, and --no-record makes none",
            hint="leave one of them out",
        )
    network = None if sandbox.launch is None else sandbox.launch.network
    if meters and network in (Network.OFF, Network.LOOPBACK):
        if asked:
            raise UsageError(
                f"--meter measures requests, and with `network: {network}` there are none",
                hint="--network allow reaches the hosts that the agent needs, --network on all",
            )
        meters = False
    if not meters and sandbox.hosts is None:
        return None
    return WirePlan(bool(meters), "" if agent is None else agent.name, sandbox.hosts)
