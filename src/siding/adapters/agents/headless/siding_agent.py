"""Siding's own agent: `siding-agent -p`, whose stream of JSON is that of Claude Code.

The prompt goes to its standard input.
"""

import json
from collections.abc import Mapping
from typing import Any

from siding.adapters.agents.headless.claude import ClaudeStream
from siding.adapters.agents.headless.port import Ask, Invocation, Level, Stream
from siding.adapters.agents.siding_agent import TRIES_VARIABLE

_MODES = {Level.READ: "dontAsk", Level.EDIT: "acceptEdits", Level.ALL: "acceptEdits"}
_EDITS = "Edit,MultiEdit,Write,NotebookEdit"
_ALL = f"Bash,{_EDITS},Read,WebFetch"  # bypassPermissions is for sandboxes only


class SidingAgentHeadless:
    """Siding's own agent."""

    says_end = True
    has_answer = True

    def takes_schema(self, schema: Mapping[str, Any], /) -> bool:
        return schema.get("type") == "object"

    def invoked(self, ask: Ask) -> Invocation:
        tools = [*ask.tools, *([_ALL] if ask.level is Level.ALL else [])]
        words = [
            *("-p", "--output-format", "stream-json"),
            *("--permission-mode", _MODES[ask.level]),
            *(("--allowed-tools", ",".join(tools)) if tools else ()),
            *(("--disallowed-tools", _EDITS) if ask.level is Level.READ else ()),
            *((f"--model={ask.model}",) if ask.model else ()),
            *((f"--effort={ask.effort}",) if ask.effort else ()),
            *((f"--append-system-prompt={ask.text}",) if ask.text else ()),
            *(("--json-schema", json.dumps(ask.schema)) if ask.schema is not None else ()),
        ]
        if ask.session:
            words.append(f"--resume={ask.session}")
        elif ask.new_session:
            words.append(f"--session-id={ask.new_session}")
        return Invocation(
            argv=(*ask.program, *words, *ask.options),
            stdin=ask.prompt,
            env={} if TRIES_VARIABLE in ask.env else {TRIES_VARIABLE: "3"},
            session=ask.session or ask.new_session,
        )

    def stream(self, _ask: Ask, /) -> Stream:
        return ClaudeStream()


HEADLESS = SidingAgentHeadless()
