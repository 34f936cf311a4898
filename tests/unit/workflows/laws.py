"""Run a drawn script on a journal, with agents that are slow at random and that count."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from siding.workflows.engine.ports import AgentCall, Attempt, Report
from siding.workflows.journal import read_journal
from siding.workflows.outcome import Dead, DeadReason, Done, Outcome, Skipped, Used
from unit.workflows.random_scripts import Drawn, answer
from unit.workflows.world import Ran, ScriptedAgents, lines, run_script


class CountingAgents(ScriptedAgents):
    """Agents whose answer follows from the prompt, after a time drawn at random."""

    def __init__(self, seed: int, changed: Callable[[str], Any] = answer) -> None:
        super().__init__({})
        self.finished: Counter[str] = Counter()  # by path
        self.sessions: dict[str, str] = {}  # that a call was given to go on with
        self._random = Random(seed)
        self._answer = changed

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        self.calls.append(call.prompt)
        self.sessions[call.path] = attempt.session
        await asyncio.sleep(self._random.choice([0, 0, 0.001, 0.004]))
        text = self._answer(call.prompt)
        self.finished[call.path] += 1
        if text is None or text[0] == "0":
            return Dead(reason=DeadReason.API_ERROR, retryable=False, used=Used(tokens=1))
        return Skipped() if text[0] == "1" else Done(output=text, used=Used(tokens=1))


def run_drawn(drawn: Drawn, journal: Path, agents: ScriptedAgents, **options: Any) -> Ran:
    """Run it, and say so if its script's process does not end well."""
    return run_script(journal, drawn.source, agents, files=drawn.files, **options)


def counted_lines(journal: Path) -> list[Mapping[str, Any]]:
    """Return the answers of a journal, sorted by path, without what depends on time."""
    answers = [line for line in lines(journal) if line["t"] == "answer"]
    keep = ("path", "kind", "fp", "result")
    return sorted(
        ({key: line[key] for key in keep} for line in answers), key=lambda line: line["path"]
    )


def answered(journal: Path) -> set[str]:
    """Return the paths of agents whose result is on disk, but for those that are run again."""
    return {
        path
        for path, answer in read_journal(journal).answers.items()
        if answer.kind == "agent" and answer.outcome != "dead"
    }


def cut(journal: Path, random: Random) -> None:
    """Leave a journal as a kill would, at any byte behind its first line."""
    whole = journal.read_bytes()
    first = whole.index(b"\n") + 1
    journal.write_bytes(whole[: random.randint(first, len(whole))])
