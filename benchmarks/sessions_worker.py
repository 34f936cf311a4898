"""One contender of F8 as a process of its own: ``sessions_worker.py WHAT PATH [ARGUMENT]``."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns, process_time_ns


def live(path: Path, _: str) -> None:
    """Open the live end and find the active chain."""
    from siding.agents.transcripts.reading.transcript import Transcript

    with Transcript.live(path) as transcript:
        assert transcript.chain()


def read(path: Path, _: str) -> None:
    """The same, and every record of the chain."""
    from siding.agents.transcripts.reading.transcript import Transcript

    with Transcript.live(path) as transcript:
        assert sum(1 for _ in transcript.records(transcript.chain()))


def lines(path: Path, _: str) -> None:
    """The floor: parse every line with the standard library, keep nothing."""
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def whole(path: Path, _: str) -> None:
    """What a plain loader does: parse every line, keep them all, walk the parents."""
    records = {}
    with path.open("rb") as file:
        for line in file:
            record = json.loads(line)
            records[record["uuid"]] = record
    end = max(records.values(), key=lambda record: str(record["timestamp"]))
    chain = []
    while end is not None:
        chain.append(end)
        end = records.get(end["parentUuid"])
    assert chain


def append(path: Path, count: str) -> None:
    """Add prompts, each stored before the next; prints how long the appends alone took."""
    from siding.agents.transcripts.store import SessionStore
    from siding.agents.transcripts.writer import Stamp

    numbers = iter(range(10**9))
    with SessionStore(path.parent).writer(
        path.stem,
        stamp=Stamp(cwd="/w", version="0.1.0"),
        now=lambda: "2027-01-01T00:00:00.000Z",
        new_id=lambda: f"new-{os.getpid()}-{next(numbers)}",
    ) as writer:
        _timed(lambda: writer.append([{"type": "user", "message": _PROMPT}]), int(count))


def plain(path: Path, count: str) -> None:
    """The floor of that: one write and one flush."""
    data = b"x" * 500 + b"\n"
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def store() -> None:
        os.write(fd, data)
        os.fsync(fd)

    _timed(store, int(count))


_PROMPT = {"role": "user", "content": "lorem ipsum " * 20}


def index(path: Path, _: str) -> None:
    """Make the full-text index of a directory of sessions, or bring it up to date."""
    from siding.agents.transcripts.search import SearchIndex, files_of
    from siding.agents.transcripts.store import SessionStore

    store = SessionStore(path)
    with SearchIndex(path) as found:
        found.update(files_of(store.layout(each) for each in store.ids()))


def search(path: Path, words: str) -> None:
    """Look for words, the way the command does."""
    from siding.agents.transcripts.search import SearchIndex, files_of
    from siding.agents.transcripts.store import SessionStore

    store = SessionStore(path)
    with SearchIndex(path) as found:
        found.update(files_of(store.layout(each) for each in store.ids()))
        assert found.search(words, limit=20)


def _timed(act: Callable[[], object], count: int) -> None:
    wall, cpu = perf_counter_ns(), process_time_ns()
    for _ in range(count):
        act()
    took = {
        "wall_ms": (perf_counter_ns() - wall) / 1e6,
        "cpu_ms": (process_time_ns() - cpu) / 1e6,
    }
    print(json.dumps(took))


ACTS: dict[str, Callable[[Path, str], None]] = {
    act.__name__: act for act in (live, read, lines, whole, append, plain, index, search)
}

if __name__ == "__main__":
    ACTS[sys.argv[1]](Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "")
