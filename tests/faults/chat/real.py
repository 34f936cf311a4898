"""The trial with a real agent, whose model is the tests'; that says what it has really done."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agents.conftest import AgentAtWork
from agents.talking.acp_rows import ACP_ROWS
from agents.talking.rows import ROWS, Row
from faults.chat.trial import Trials
from sandbox import Sandbox
from siding.chat.talk import Waiting

# Where an agent keeps what proves that it has a prompt, below its home.
_RECORDS = {
    "claude": ".claude/projects/*/*.jsonl",
    "codex": ".codex/sessions/**/*.jsonl",
    "opencode": ".local/share/opencode/opencode.db*",
    "gemini": ".gemini/tmp/*/chats/*",
}
_BY_ID = ("claude", "codex")


class RealTrials(Trials):
    """A conversation with a real agent. Its model answers each prompt with a text."""

    _asks = "say"

    def __init__(self, sandbox: Sandbox, agent: AgentAtWork) -> None:
        self._agent = agent
        self._row: Row = {**ROWS, **ACP_ROWS}[agent.name]
        super().__init__(sandbox, agent.name)

    def _install(self) -> None:
        self._row.prepare(self._agent)
        self._agent.says()

    def _options(self) -> Sequence[str]:
        model = ["--model", self._row.model] if self._row.model else []
        return [*(f"--option={each}" for each in self._row.options(self._agent)), *model]

    def _truth(self, what: str) -> Counter[str]:
        if what != "took":
            return Counter()
        assert self._agent.model is not None
        return Counter(_newest_prompt(each) for each in [*self._agent.model.requests])

    def _is_proven(self, prompt: Waiting) -> bool:
        wanted = prompt.prompt if self._kind in _BY_ID else prompt.text
        home = Path(self._sandbox.env["HOME"])
        found = [each for each in home.glob(_RECORDS[self._kind]) if each.is_file()]
        return any(wanted.encode() in each.read_bytes() for each in found)


def _newest_prompt(request: object) -> str:
    """Return the prompt of ours that is the last one in a request."""
    said = json.dumps(request)
    at = max(said.rfind("say "), 0)
    return said[at : said.find(".", at) + 1]
