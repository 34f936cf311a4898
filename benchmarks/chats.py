"""What a conversation costs beside its agent: the first token, each token, a turn, memory."""

import json
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import chats_worker
from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.chat_viewers import watched
from benchmarks.idle_runs import memory_of, time_of
from benchmarks.measure import Sample, Timing
from siding.chat.conversations import wake
from siding.chat.requests import GivePrompt
from siding.chat.store import Chat
from siding.chat.story import StoryReader

FIRST_TOKEN_MS = 50
PIECES = 1_000
PIECES_MS = 100  # 100 µs each
TURN_MS = 60
MEMORY_MB = 25
SETTLED_S = 3
IDLE_S = 10
_LOOK_S = 0.0005
_PATIENCE_S = 120.0

# When a prompt was given, when the first token of its turn was seen, and when its end was.
Turn = Callable[[str], tuple[float, float, float]]


class Alone:
    """The agent without Siding: its lines are read and parsed."""

    def __init__(self, argv: list[str], cwd: Path) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, cwd=cwd)

    def turn(self, prompt: str) -> tuple[float, float, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        message = {"role": "user", "content": [{"type": "text", "text": prompt}]}
        given = {"type": "user", "uuid": str(uuid.uuid4()), "message": message}
        begun = time.perf_counter()
        self._process.stdin.write(chats_worker.line_of(given))
        self._process.stdin.flush()
        first = 0.0
        for line in self._process.stdout:
            said = json.loads(line)
            if said["type"] == "stream_event":
                first = first or time.perf_counter()
            elif said["type"] == "result":
                break
        return begun, first, time.perf_counter()

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Held:
    """The agent in a conversation, seen as a viewer sees it. A turn ends when it is recorded."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._reader = StoryReader(chat.story)
        self._until("recorded")

    def turn(self, prompt: str) -> tuple[float, float, float]:
        begun = time.perf_counter()
        self._give(prompt)
        first = self._until("text")
        return begun, first, self._until("recorded")

    def turns(self, prompts: list[str]) -> float:
        """Have all of them carried out, one after the other; return how long it took."""
        begun = time.perf_counter()
        for each in prompts:
            self._give(each)
        end = begun
        for _ in prompts:
            end = self._until("recorded")
        return end - begun

    def _give(self, prompt: str) -> None:
        asked = GivePrompt(str(uuid.uuid4()), prompt)
        self._chat.requests.put(asked, by="bench", at_ns=time.time_ns(), more=uuid.uuid4().hex)
        wake(self._chat)

    def _until(self, event: str) -> float:
        end = time.perf_counter() + _PATIENCE_S
        while time.perf_counter() < end:
            for record in self._reader.records():
                if record["event"] == event:
                    return time.perf_counter()
            time.sleep(_LOOK_S)
        raise RuntimeError(f"no {event} came")


def _measure(bench: Bench) -> Iterator[Row]:
    for files in bench.sizes(1_000, 20_000, 100_000):
        with bench.task("chats", files) as (workspace, env):
            yield from _turns(bench, files, workspace, _with_agent(bench, env))
    if not Path("/proc/self/smaps_rollup").exists():
        bench.say("memory is read from /proc, which this system does not have")
        return
    with bench.task("watched-chat", 200) as (workspace, env):
        yield from _watched(bench, workspace, _with_agent(bench, env))
    for chats in bench.sizes(1, 10, 50, quick=2):
        with bench.task(f"idle-chats-{chats}", 200) as (workspace, env):
            yield _idle(bench, chats, workspace, _with_agent(bench, env))


def _watched(bench: Bench, workspace: Path, env: dict[str, str]) -> Iterator[Row]:
    def begin() -> tuple[Chat, Callable[[str], float]]:
        chat = _begun(bench, workspace, env)
        held = Held(chat)

        def turn(prompt: str) -> float:
            begun, _first, end = held.turn(prompt)
            return end - begun

        return chat, turn

    def end(chat: Chat) -> None:
        _end(bench, [chat], workspace, env)

    return watched(bench, workspace, env, begin=begin, end=end)


def _with_agent(bench: Bench, env: dict[str, str]) -> dict[str, str]:
    """Return an environment in which `claude` is the agent that is measured with."""
    directory = bench.directory / "agent"
    program = directory / "claude"
    if not program.exists():
        directory.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{bench.python}" -S -E "{chats_worker.__file__}"\n')
        program.chmod(0o755)
    return {**env, "PATH": f"{directory}:{env['PATH']}"}


def _begun(bench: Bench, workspace: Path, env: dict[str, str]) -> Chat:
    said = bench.run([bench.siding, "chat", "claude", "1 -", "--json"], cwd=workspace, env=env)
    (directory,) = Path(env["SIDING_HOME"]).glob(f"projects/*/tasks/*/chats/{_id_in(said)}")
    return Chat(directory)


def _end(bench: Bench, chats: list[Chat], workspace: Path, env: dict[str, str]) -> None:
    """End the agents, and wait until nobody writes below the home any more."""
    for chat in chats:
        bench.run([bench.siding, "chat", "end", "-c", chat.id], cwd=workspace, env=env)
    while any(chat.has_host() for chat in chats):
        time.sleep(_LOOK_S)


def _id_in(said: str) -> str:
    begun: dict[str, Any] = json.loads(said)
    return str(begun["chat"])


def _turns(bench: Bench, files: int, workspace: Path, env: dict[str, str]) -> Iterator[Row]:
    chat = _begun(bench, workspace, env)
    held = Held(chat)
    alone = Alone([str(bench.directory / "agent" / "claude")], workspace)
    rounds = bench.rounds(20, quick=5)
    try:
        first = [(_first(held.turn, files), _first(alone.turn, files)) for _ in range(rounds)]
        pieces = [(_pieces(held.turn), _pieces(alone.turn)) for _ in range(rounds)]
        turns = []
        for _ in range(max(2, rounds // 4)):
            prompts = [f"1 file-{each}" for each in range(5)]
            ours = held.turns(prompts) / len(prompts)
            floor = [alone.turn(each) for each in prompts]
            turns.append((ours, sum(end - begun for begun, _, end in floor) / len(prompts)))
    finally:
        alone.end()
        _end(bench, [chat], workspace, env)
    yield _row("first token", f"{files:,} files", files, first, FIRST_TOKEN_MS)
    if files == 1_000:
        yield _row("tokens", f"{PIECES:,} tokens at once", PIECES, pieces, PIECES_MS)
    yield _row("turn", f"a file changed, {files:,} files", files, turns, TURN_MS)


def _first(turn: Turn, number: int) -> float:
    begun, first, _end = turn(f"1 file-{number % 10}")
    return first - begun


def _pieces(turn: Turn) -> float:
    _begun, first, end = turn(f"{PIECES} -")
    return end - first


def _row(
    series: str, case: str, size: int, found: list[tuple[float, float]], goal_ms: float
) -> Row:
    ours, floor = (
        Timing(tuple(Sample(pair[which] * 1e3, 0.0) for pair in found)) for which in (0, 1)
    )
    return Row(series, case, size, ours, floor, "the agent alone", goal_ms, Goal.OVER)


def _idle(bench: Bench, chats: int, workspace: Path, env: dict[str, str]) -> Row:
    begun_ones = [_begun(bench, workspace, env) for _ in range(chats)]
    for chat in begun_ones:
        Held(chat)
    time.sleep(SETTLED_S)
    records = Path(env["SIDING_HOME"]).glob("projects/*/tasks/*/runs/*.json")
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in records]
    ours = [each[name]["pid"] for each in runs for name in ("host", "keeper")]
    agents = [each["command"]["pid"] for each in runs]
    begun = time.perf_counter(), time_of(ours), time_of(agents)
    time.sleep(IDLE_S)
    wall_ms = (time.perf_counter() - begun[0]) * 1e3
    memory = sum(map(memory_of, ours)) / chats
    sample = Sample(wall_ms, time_of(ours) - begun[1], memory)
    floor = Sample(wall_ms, time_of(agents) - begun[2], sum(map(memory_of, agents)) / chats)
    _end(bench, begun_ones, workspace, env)
    return Row(
        "idle",
        f"{chats} idle conversation{'s' * (chats > 1)}",
        chats,
        Timing((sample,)),
        Timing((floor,)),
        "the agents alone",
        MEMORY_MB,
        Goal.MEMORY,
        f"{memory:.1f} MB for each host and keeper, shared pages divided; "
        f"{sample.cpu_ms:.0f} ms of processor time in {IDLE_S} s for all of them",
    )


FIGURE = Figure(
    title="conversations",
    goal="first token at most 50 ms later, a token 100 µs, a turn 60 ms at 1,000 files; 25 MB",
    floor="the agent alone, its lines read and parsed",
    follows="turns: what changed, and a look at all files. Idle: the conversations",
    measure=_measure,
)
