"""Claude Code: `claude -p` with a stream of JSON. Tried with 2.1.197 and 2.1.329."""

from siding.agents.headless.port import Headless, Level
from siding.agents.headless.stream_json import EDITS, StreamJsonHeadless
from siding.agents.headless.stream_json import again as again

# `default` is called `manual` in the help of newer versions, and taken by all.
_MODES = {Level.READ: "default", Level.EDIT: "acceptEdits", Level.ALL: "acceptEdits"}


class ClaudeHeadless(StreamJsonHeadless):
    """Claude Code."""

    modes = _MODES
    # `--dangerously-skip-permissions` is refused to root, so what it allows is named instead.
    everything = (
        f"Bash,BashOutput,KillShell,{EDITS},Read,Glob,Grep,WebFetch,WebSearch,Task,Skill,TodoWrite"
    )
    retries = "CLAUDE_CODE_MAX_RETRIES"  # ten of its own take minutes, also for a refused key


HEADLESS: Headless = ClaudeHeadless()
