"""A task that waits at a gate, its dashboard, and devices that are paired with it."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from dashboards import Dashboard
from devices import Address, Device, on_loopback
from prepared import prepared
from sandbox import Sandbox

PLAN: dict[str, Any] = {
    "names": ["build", "finish"],
    "gates": {"build": [{"ask": "May this be released?"}]},
}
YES = {"decisions": [{"id": 1, "chosen": "yes"}]}
NO = {"decisions": [{"id": 1, "chosen": "no"}]}


class Gated:
    """A task at a gate, and its dashboard."""

    def __init__(self, sandbox: Sandbox, dashboard: Dashboard) -> None:
        self.sandbox = sandbox
        self.dashboard = dashboard

    @property
    def gate(self) -> dict[str, Any]:
        """The gate's question."""
        (found,) = self.sandbox.json("decide", "list", "--all", "--json")
        assert isinstance(found, dict)
        return found

    @property
    def answer(self) -> str:
        """The path at which the gate is answered."""
        return f"/api/v1/decisions/{self.gate['session_id']}/answer"

    def is_shut(self) -> bool:
        return bool(self.gate["state"] == "open")


def wait_at_the_gate(sandbox: Sandbox, _which: str = "") -> None:
    sandbox.siding("task", "start", "release")
    (sandbox.project / "config.yaml").write_text(json.dumps({"version": 1, "phases": PLAN}))
    sandbox.siding("phase", "start", "build", "begin")
    sandbox.siding("phase", "next-part", "finish", "done", status=1)


@pytest.fixture
def gated() -> Iterator[Gated]:
    sandbox = prepared(wait_at_the_gate)
    with Dashboard(sandbox) as running:
        yield Gated(sandbox, running)


@pytest.fixture
def phone(gated: Gated) -> Device:
    """A device that is paired on the loopback."""
    return on_loopback(gated.dashboard).pair(gated.sandbox)


class Served(Gated):
    """A task at a gate, and a dashboard that is served to devices."""

    def __init__(self, sandbox: Sandbox, dashboard: Dashboard, port: int) -> None:
        super().__init__(sandbox, dashboard)
        self.address = Address(f"127.0.0.1:{port}", port, tls=True)

    @property
    def url(self) -> str:
        return self.address.origin

    def device(self) -> Device:
        """Return a device that is not paired."""
        return Device(self.address, {})


@pytest.fixture
def served() -> Iterator[Served]:
    sandbox = prepared(wait_at_the_gate, "served")
    port = free_port()
    with Dashboard(sandbox, "--serve", f"127.0.0.1:{port}") as running:
        yield Served(sandbox, running, port)


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as asking:
        asking.bind(("127.0.0.1", 0))
        return int(asking.getsockname()[1])
