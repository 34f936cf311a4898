"""F17: what the built-in agent itself costs: a turn, a tool call, a piece of an answer, memory.

The model is scripted: it answers at once. The agent is in a run, as a person has it, and each turn
is a step of it. The goal is about the processor time and memory of the agent's own process: what is
elapsed has the recording of the step in it, which F12 measures.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.idle_runs import memory_of, time_of
from benchmarks.measure import Sample, Timing

TURN_MS = 25
FILES = 200
PIECES = 1_000
TOOLS = 10
FEW = 20  # turns of the rows that are not about memory
SCRIPT = {
    "answers": [
        {"match": "say", "text": "Fine."},
        {"match": "pieces", "text": "word " * PIECES},
        {
            "match": "read",
            "steps": [
                {"tools": [{"Read": {"file_path": "README.md"}} for _ in range(TOOLS)]},
                {"text": "Read."},
            ],
        },
    ]
}
WORDS = (
    "-p --input-format stream-json --output-format stream-json --include-partial-messages"
    " --allowed-tools Bash,Read"
)


class _Talk:
    """A conversation over streams of JSON; with `cat` in its place a line comes back at once."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process

    def turn(self, prompt: str) -> float:
        """Return the milliseconds from a prompt to its result."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        line = {"type": "user", "message": {"role": "user", "content": prompt}, "x": '"result"'}
        begun = perf_counter_ns()
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            said = self.process.stdout.readline()
            if not said:
                raise RuntimeError("the agent has ended")
            if b'"type":"result"' in said or b'\\"result\\"' in said:
                return (perf_counter_ns() - begun) / 1e6


@contextmanager
def _talking(argv: list[str | Path], cwd: Path, env: Mapping[str, str]) -> Iterator[_Talk]:
    process = subprocess.Popen(
        argv, cwd=cwd, env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=-3
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield _Talk(process)
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def _measure(bench: Bench) -> Iterator[Row]:
    if not Path("/proc/self/smaps_rollup").exists():
        bench.say("F17 reads /proc, which this system does not have")
        return
    for turns in bench.sizes(10, 100, 1_000, quick=2):
        yield _row(bench, "say", "turns", turns)
    yield _row(bench, "read", f"turns with {TOOLS} calls of Read", FEW)
    yield _row(bench, "pieces", f"turns with an answer in {PIECES:,} pieces", FEW)


def _row(bench: Bench, prompt: str, what: str, turns: int) -> Row:
    script = bench.directory / "agent.json"
    script.write_text(json.dumps(SCRIPT), encoding="utf-8")
    with bench.task(f"agent-{prompt}-{turns}", FILES) as (workspace, env):
        argv: list[str | Path] = [bench.siding, "agent", *WORDS.split()]
        with _talking([*argv, "--model", f"scripted:{script}"], workspace, env) as talk:
            talk.turn(prompt)
            pid = _agent(Path(env["SIDING_HOME"]))
            first_mb, spent = memory_of(pid), time_of([pid])
            times = [talk.turn(prompt) for _ in range(turns - 1)]
            cpu_ms = (time_of([pid]) - spent) / (turns - 1)
            last_mb = memory_of(pid)
        sessions = Path(env["SIDING_HOME"]).glob("projects/*/sessions/**/*.jsonl")
        kept_mb = max(path.stat().st_size for path in sessions) / 1e6
    with _talking(["cat"], bench.directory, bench.env) as echo:
        floor = [echo.turn(prompt) for _ in range(FEW)]
    note = (
        f"{cpu_ms:.1f} ms of the agent's processor time a turn (goal: {TURN_MS}); "
        f"{first_mb:.1f} MB after the first turn, {last_mb:.1f} MB at the end, "
        f"transcript {kept_mb:.2f} MB"
    )
    return Row(
        prompt,
        f"{turns:,} {what}",
        turns,
        Timing(tuple(Sample(each, cpu_ms, last_mb) for each in times)),
        Timing(tuple(Sample(each, 0.0) for each in floor)),
        "the line through cat",
        bounds=Goal.OVER,
        note=note,
    )


def _agent(home: Path) -> int:
    """Return the process of the agent in the one run that lives."""
    records = [
        json.loads(path.read_bytes()) for path in home.glob("projects/*/tasks/*/runs/*.json")
    ]
    (pid,) = [record["command"]["pid"] for record in records if record.get("command")]
    return int(pid)


FIGURE = Figure(
    title="turns of the built-in agent",
    goal=f"{TURN_MS} ms of its processor time a turn; memory grows by what was said, no more",
    floor="the same line through cat; the model is scripted and answers at once",
    follows="a turn: its requests, calls and pieces; the memory: what the model sees",
    measure=_measure,
)
