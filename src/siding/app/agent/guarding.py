"""Who decides on the calls of the built-in agent: the broker of its run, by the policy."""

import asyncio
from pathlib import Path

from siding.agent.guard import Allowed, Denied
from siding.app.agent.reporting import Reports
from siding.tools.port import Call, Result, Tool

_PLANNING = (
    "The mode is plan: nothing is changed. Read as much as you need, then say what you would do."
)


class RunGuard:
    """Asks the broker of the run. Calls that change something wait until their turn is reported.

    `reports` is None outside of a run: then there is nobody to ask. With `is_planning` nothing is
    changed.
    """

    def __init__(
        self, reports: Reports | None, workspace: Path, *, is_planning: bool = False
    ) -> None:
        self.is_planning = is_planning
        self._reports = reports
        self._workspace = workspace
        self._begun: asyncio.Task[None] | None = None

    def turn_begins(self, reported: asyncio.Task[None]) -> None:
        """Let no call change anything before the turn is reported: it would not be of its step."""
        self._begun = reported

    async def rule(self, call: Call, tool: Tool) -> Allowed | Denied:
        """See `Guard.rule`."""
        if self.is_planning and not tool.is_safe(call.given):
            return Denied(_PLANNING)
        if self._reports is None:
            return Allowed(call.given)
        if self._begun is not None:
            await asyncio.shield(self._begun)
        why = await self._reports.judged(call, tool.use(call.given), str(self._workspace))
        return Denied(why) if why else Allowed(call.given)

    async def ended(self, call: Call, tool: Tool, _result: Result) -> None:
        """See `Guard.ended`."""
        if self._reports is not None and not tool.is_safe(call.given):
            await self._reports.called(call, tool.use(call.given))
