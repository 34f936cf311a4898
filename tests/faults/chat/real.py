"""The trial with a real agent, whose model is the tests'; that says what it has really done."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agents.conftest import AgentAtWork
from agents.models import Answer, Paced, Pieces
from agents.talking.acp_rows import ACP_ROWS
from agents.talking.rows import ROWS, Row
from faults.chat.trial import Trials
from sandbox import Sandbox
from siding.agents.table import OWN
from siding.chat.talk import Waiting

# Where an agent keeps what proves that it has a prompt, below its home.
_RECORDS = {
    "claude": ".claude/projects/*/*.jsonl",
    "codex": ".codex/sessions/**/*.jsonl",
    "opencode": ".local/share/opencode/opencode.db*",
    "gemini": ".gemini/tmp/*/chats/*",
    OWN: "projects/*/sessions/*.jsonl",
}
_BY_ID = ("claude", "codex", OWN)
_PROMPT = re.compile(r"(?P<word>run|say) (?P<name>\d+[abcs])\.")
PAUSE_S = 0.03  # between the words of an answer
TOOL_S = 0.3


class RealTrials(Trials):
    """A conversation with a real agent. Its model has a command run for a prompt `run`, and answers
    each with some words that come one by one."""

    def __init__(self, sandbox: Sandbox, agent: AgentAtWork) -> None:
        self._agent = agent
        self._row: Row = {**ROWS, **ACP_ROWS}[agent.name]
        self._took: Counter[str] = Counter()
        self._history = ""  # of the newest request
        self.steers = self._row.talking.abilities.steers
        super().__init__(sandbox, agent.name)

    def _install(self) -> None:
        self._row.prepare(self._agent)
        self._agent.says().answers = self._model_says

    def _model_says(self, messages: str) -> Answer:
        """Answer a request, and take note of the prompt that has begun a turn with it."""
        self._history = messages
        found = [*_PROMPT.finditer(messages)]
        if not found:
            return ["Hello."]
        newest = found[-1]
        word, name = newest["word"], newest["name"]
        command = f"echo {name} >>effects; sleep {TOOL_S}"
        if command in messages[newest.end() :]:
            return _words(name)  # it has run
        self._took[newest[0]] += 1
        return [self._agent.shell(command)] if word == "run" else _words(name)

    def _options(self) -> Sequence[str]:
        model = ["--model", self._row.model] if self._row.model else []
        return [*(f"--option={each}" for each in self._row.options(self._agent)), *model]

    def _truth(self, what: str) -> Counter[str]:
        return self._took if what == "took" else Counter()

    def _effects(self) -> Counter[str]:
        effects = self._workspace / "effects"
        return Counter(effects.read_text().split()) if effects.exists() else Counter()

    def _is_proven(self, prompt: Waiting) -> bool:
        wanted = prompt.prompt if self.kind in _BY_ID else prompt.text
        places = (Path(self._sandbox.env["HOME"]), self._sandbox.directory / "siding")
        found = [each for place in places for each in place.glob(_RECORDS[self.kind])]
        return any(wanted.encode() in each.read_bytes() for each in found if each.is_file())

    def _check(self, prompts: list[Waiting]) -> None:
        super()._check(prompts)
        for each in prompts:
            told = self._history.count(each.text)
            assert told <= 1, f"{each.text} is in the agent's memory {told} times"
            if not told:
                self.figures.counts["forgotten"] += 1
                assert each.text in self._dropped, f"the agent has forgotten {each.text}"


def _words(name: str) -> Answer:
    return Paced(PAUSE_S, [Pieces(f"Well, {name} it is, and that was all of it.")])
