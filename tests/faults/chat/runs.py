"""Try many moments with one agent, each judged by itself."""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from agents.conftest import at_work
from agents.talking.acp_rows import ACP_ROWS
from agents.talking.rows import ROWS
from faults.chat.figures import Failed, Figures
from faults.chat.moments import drawn
from faults.chat.real import RealTrials
from faults.chat.trial import Trials
from sandbox import Sandbox

SEED = int(os.environ.get("SIDING_FAULTS_SEED", "1"))
_PROVES = bool(int(os.environ.get("SIDING_FAULTS_TIMES", "0")))
# Of each client; none in the suite, which has a few of its own.
MOMENTS = range(int(os.environ.get("SIDING_FAULTS_MOMENTS") or (200 if _PROVES else 0)))
IN_ONE = 20  # moments of one conversation


class Client(NamedTuple):
    """An agent that is tried."""

    span_s: float  # from its first prompt to the end of the second turn, about
    has_proof: bool  # its record says of each prompt whether it was taken
    scripted: str = ""  # a stand-in (`agent.py`), of this kind


# With what its record can prove: Claude asks its model before it writes a prompt down, Gemini too.
CLIENTS: Mapping[str, Client] = {
    "claude": Client(4.0, has_proof=False),
    "codex": Client(3.5, has_proof=True),
    "opencode": Client(6.0, has_proof=True),
    "siding-agent": Client(3.5, has_proof=True),
    "gemini": Client(9.0, has_proof=False),
    "qwen-scripted": Client(1.5, has_proof=False, scripted="qwen"),
}


@contextmanager
def trials_with(name: str, sandbox: Sandbox) -> Iterator[Trials]:
    """Begin a conversation with a client; skip the test if it is not installed."""
    scripted = CLIENTS[name].scripted
    if scripted:
        yield from _left(Trials(sandbox, scripted))
        return
    row = {**ROWS, **ACP_ROWS}[name]
    if row.executable is None:
        pytest.skip(f"{name} is not installed (npm: {row.kind.package})")
    agent = at_work(sandbox, row.kind, row.executable)
    try:
        yield from _left(RealTrials(sandbox, agent))
    finally:
        agent.close()


def _left(trials: Trials) -> Iterator[Trials]:
    try:
        yield trials
    finally:
        trials.leave()


def tried(
    name: str,
    numbers: Iterable[int],
    *,
    seed: int,
    say: Callable[[str], None] = print,
    keep: Path | None = None,
) -> Figures:
    """Try these moments with a client. After one that fails the rest has a new conversation."""
    left = [*numbers]
    total = Figures()
    while left:
        with tempfile.TemporaryDirectory(prefix="siding-kills-") as place:
            sandbox = Sandbox(Path(place))
            with trials_with(name, sandbox) as trials:
                trials.figures = total
                while left and not _fails(trials, name, left.pop(0), seed, say):
                    if not left or left[0] % IN_ONE == 0:
                        trials.check_all()
                        break
                failed = total.failed[-1:]
                if keep is not None and failed and trials.has_failed:
                    shutil.copy(trials.chat.story, keep / f"{name}-{failed[0].number}.jsonl")
                elif keep is not None:
                    shutil.copy(trials.chat.story, keep / f"{name}-last.jsonl")
    return total


def _fails(trials: Trials, name: str, number: int, seed: int, say: Callable[[str], None]) -> bool:
    """Try one moment; tell whether something was not as it has to be."""
    client = CLIENTS[name]
    moment = drawn(seed, name, number, span_s=client.span_s, steers=trials.steers)
    figures = trials.figures
    before = Counter(figures.counts)
    try:
        killed = trials.killed(moment)
        new = figures.counts - before
        assert not new["unsure"] or not client.has_proof, "it was not sure"
        figures.counts["moments"] += bool(killed)
        told = "".join(f", {count} {what}" for what, count in new.items())
        say(f"{name} {number}: {moment}: {killed or 'nobody was killed'}{told}")
    except AssertionError as error:
        trials.has_failed = True
        figures.counts["moments"] += 1
        figures.failed.append(Failed(number, str(moment), str(error)))
        say(f"{name} {number}: {moment}: FAILED: {error}")
    return trials.has_failed
