"""Siding's own agent: `siding-agent -p`, with the options and the stream of Claude Code.

What it would ask about it is denied, since nobody can be asked; bypassPermissions is for sandboxes.
"""

from siding.agents.headless.port import Headless, Level
from siding.agents.headless.stream_json import StreamJsonHeadless
from siding.agents.headless.stream_json import again as again
from siding.agents.own.hooks import TRIES_VARIABLE

_MODES = {Level.READ: "dontAsk", Level.EDIT: "acceptEdits", Level.ALL: "acceptEdits"}


class SidingAgentHeadless(StreamJsonHeadless):
    """Siding's own agent."""

    modes = _MODES
    everything = "Bash,Edit,MultiEdit,Write,NotebookEdit,Read,WebFetch"
    retries = TRIES_VARIABLE


HEADLESS: Headless = SidingAgentHeadless()
