"""Projects in which things happen, and viewers that are compared with a fresh look at all files.

Everything is real: repositories, runs with hosts and keepers, an agent that reports to its broker,
questions, gates, conflicts; and kills of hosts, agents, the hub and viewers. What happens next is
drawn from a seed.
"""

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from siding.feed.client import feed_now
from siding.feed.fold import feed_of
from siding.feed.model import Change, Feed, State, changed
from siding.record.place.wiring import App, open_app

PROJECTS = ("shop", "flask", "infra")
MOST_TASKS, MOST_LIVE = 8, 5  # of a project, and of all
PATIENCE_S = 20.0  # before a state counts as wrong
_TRY_S = 0.02
_WAITS_S = 60.0

# What a run of an agent does: it passes lines on to its broker, as the hooks of an agent do.
AGENT = """
import json, os, socket, sys, time
place = sys.argv[1]
os.mkfifo(place)
while True:
    for line in open(place):
        if line.startswith("write "):
            open(line.split()[1], "a").write("turn\\n")
            continue
        broker = socket.socket(socket.AF_UNIX)
        broker.connect(os.environ["SIDING_SOCKET"])
        broker.sendall(line.encode())
        broker.makefile().readline()
        broker.close()
        open(place + ".said", "a").write("x")
"""


Call = Callable[[Sequence[str], Path], int]  # carries a command line out in a directory


class Seen(NamedTuple):
    """A feed as a viewer had it, and since when."""

    at: float
    feed: Feed


class Viewing:
    """A process that shows the feed: `siding status --all --json --follow`."""

    def __init__(self, command: list[str], env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command, env=env, cwd="/", stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        self.seen: Seen | None = None
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            record = json.loads(line)
            if "feed" in record:
                feed = Feed.from_record(record["feed"])
            else:
                assert self.seen is not None
                change = Change.from_record(record["change"])
                before = self.seen.feed
                if (change.epoch, change.seq) != (before.epoch, before.seq + 1):
                    raise RuntimeError(f"a gap: {before.epoch}:{before.seq}, then {change.seq}")
                feed = changed(before, change)
            self.seen = Seen(time.monotonic(), feed)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()
        assert self._process.stdout is not None
        self._process.stdout.close()


class Latency(NamedTuple):
    """How long after an event the last of the viewers was right."""

    event: str
    seconds: float


class World:
    """The projects, the viewers, and what has happened."""

    def __init__(
        self,
        directory: Path,
        siding: list[str],
        env: Mapping[str, str],
        *,
        seed: int,
        viewers: int,
        call: Call | None = None,
    ) -> None:
        self._call = call or self._exec
        self.env = dict(env)
        self.directory = directory
        self.home = Path(env["SIDING_HOME"])
        self._siding = siding
        self._random = random.Random(seed)
        # As the hub: what is shown does not depend on where it is looked from.
        self.app: App = open_app(env=self.env, cwd=Path("/"))
        self.counts: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.latencies: list[Latency] = []
        self.wrong: list[str] = []
        self._number = 0
        self._pipes: dict[str, Path] = {}  # by task: what tells its agent what to do
        for name in PROJECTS:
            self._make_project(name)
        self.viewers = [self._view() for _ in range(viewers)]
        self._await_viewers()

    def close(self) -> None:
        for viewer in self.viewers:
            viewer.kill()
        for name in PROJECTS:
            self._run(name, "stop", "--all", "--now", counts=False)
        with suppress(OSError, ValueError):
            os.kill(self.hub(), signal.SIGKILL)

    def play(self, events: int) -> None:
        """Have so many things happen; after each one the viewers are compared."""
        table = _table()
        names, weights = [*table], [weight for weight, _act in table.values()]
        while self.counts.total() < events:
            (name,) = self._random.choices(names, weights)
            before = self.counts.total()
            table[name][1](self)
            if self.counts.total() > before:
                self.compare(name)

    def compare(self, event: str) -> None:
        """Wait until each viewer has what a fresh look finds, and note how long that took."""
        begun = time.monotonic()
        while True:
            fresh = feed_of(self.app)
            seen = [each.seen for each in self.viewers]
            if all(each is not None and _same(each.feed, fresh) for each in seen):
                break
            if time.monotonic() > begun + PATIENCE_S:
                self.wrong.append(f"{event}: {_difference(seen, fresh)}")
                return
            time.sleep(_TRY_S)
        self.latencies += [
            Latency(event, max(0.0, each.at - begun)) for each in seen if each is not None
        ]

    def seconds_of(self, event: str) -> list[float]:
        """Return the latencies of what has this name; "" for all events but the coming back."""
        if event:
            return [each.seconds for each in self.latencies if each.event == event]
        return [each.seconds for each in self.latencies if not each.event.endswith(" again")]

    def hub(self) -> int:
        """Return the process of the hub."""
        return int(json.loads((self.home / "feed" / "hub.lock").read_text())["pid"])

    # -- what happens ------------------------------------------------------------------------------

    def begin(self) -> None:
        project = self._random.choice(PROJECTS)
        if len(self._tasks(project)) < MOST_TASKS:
            self._number += 1
            self._run(project, "task", "start", f"task {self._number}")

    def run(self) -> None:
        self._in_task("run", "-q", "--", "sh", "-c", f"echo {self._new()} >>f.txt")

    def fail(self) -> None:
        self._in_task("run", "-q", "--", "sh", "-c", "echo no >&2; exit 3")

    def blocked(self) -> None:
        self._in_task("run", "-q", "--", "sudo", "ls")

    def checkpoint(self) -> None:
        self._in_task("checkpoint", "-q")

    def live(self) -> None:
        if len(self._live()) >= MOST_LIVE:
            return
        found = self._some_task()
        if found is not None and found[1] not in self._pipes:
            pipe = self.directory / f"pipe-{self._new()}"
            words = ("run", "-q", "--detach", "-t", found[1], "--")
            self._run(found[0], *words, "python3", "-c", AGENT, str(pipe))
            if _until(pipe.exists):
                self._pipes[found[1]] = pipe

    def stop(self) -> None:
        found = self._some_live()
        if found is not None:
            self._run(found[0], "stop", "--all", "-t", found[1])
            self._pipes.pop(found[1], None)

    def kill_host(self) -> None:
        self._kill("host", ("host", "keeper", "command"))

    def kill_agent(self) -> None:
        self._kill("command", ("host", "keeper", "command"))

    def permission(self) -> None:
        message = f"Claude needs your permission to use Bash ({self._new()})"
        self._report(hook_event_name="Notification", message=message)

    def prompt(self) -> None:
        self._report(hook_event_name="UserPromptSubmit", prompt=f"Go on, {self._new()}")

    def turn(self) -> None:
        self._report(hook_event_name="Stop", writes=f"t{self._new()}.txt")

    def ask(self) -> None:
        found = self._some_task()
        if found is not None:
            words = ("decide", f"Which one, {self._new()}?", "a", "b", "--no-wait")
            self._run(found[0], *words, cwd=self._workspace(*found))

    def answer(self) -> None:
        self._decide("answer", "--recommended", "--choose", "1=a")

    def cancel(self) -> None:
        self._decide("cancel")

    def gate(self) -> None:
        found = self._some_task()
        if found is not None:
            self._run(found[0], "phase", "start", "build", "begin", "-t", found[1], counts=False)
            self._run(found[0], "phase", "next-part", "finish", "on", "-t", found[1])

    def apply(self) -> None:
        self._in_task("apply", "--no-close")

    def conflict(self) -> None:
        found = self._some_task()
        if found is not None:
            repository = self.directory / found[0]
            (repository / "f.txt").write_text(f"mine {self._new()}\n")
            self._git(repository, "commit", "-qam", "mine")
            self._run(found[0], "apply", "--resolve", "-t", found[1])

    def undo(self) -> None:
        self._in_task("undo")

    def redo(self) -> None:
        self._in_task("redo")

    def close_task(self) -> None:
        self._in_task("task", "close", last=True)

    def reopen(self) -> None:
        found = self._some_task(done=True)
        if found is not None:
            self._run(found[0], "task", "reopen", found[1])

    def kill_hub(self) -> None:
        """Kill the hub; the others take over, while something happens."""
        lost = feed_now(self.app).epoch
        served = [each for each in self.viewers if each.seen and each.seen.feed.epoch == lost]
        begun = time.monotonic()
        try:
            os.kill(self.hub(), signal.SIGKILL)
        except ProcessLookupError:
            return  # it was killed so often that for a while each viewer folds by itself
        self.run()
        self._await_viewers(but=lost)
        self.counts["kill hub"] += 1
        # One that folded by itself meanwhile has lost nothing.
        self.latencies += [
            Latency("hub again", each.seen.at - begun) for each in served if each.seen
        ]

    def kill_viewer(self) -> None:
        place = self._random.randrange(len(self.viewers))
        self.viewers[place].kill()
        begun = time.monotonic()
        self.viewers[place] = self._view()
        self._await_viewers()
        self.counts["kill viewer"] += 1
        seen = self.viewers[place].seen
        assert seen is not None
        self.latencies.append(Latency("viewer again", seen.at - begun))

    # -- how ---------------------------------------------------------------------------------------

    def _make_project(self, name: str) -> None:
        repository = self.directory / name
        repository.mkdir()
        self._git(repository, "init", "-q", "-b", "main")
        (repository / "f.txt").write_text("begun\n")
        (repository / ".siding").mkdir()
        (repository / ".siding/policy.yaml").write_text("version: 1\n")
        self._git(repository, "add", "-A")
        self._git(repository, "commit", "-qm", "first")
        self._run(name, "init", counts=False)
        (project,) = self.home.glob(f"projects/{name}-*")
        gates = {"build": [{"decision": "May it go on?"}]}
        phases = {"names": ["build", "finish"], "gates": gates}
        (project / "config.yaml").write_text(json.dumps({"version": 1, "phases": phases}))

    def _git(self, repository: Path, *words: str) -> None:
        subprocess.run(["git", *words], cwd=repository, env=self.env, check=True, timeout=_WAITS_S)

    def _view(self) -> Viewing:
        return Viewing([*self._siding, "status", "--all", "--json", "--follow"], self.env)

    def _await_viewers(self, but: int | None = None) -> None:
        """Wait until each viewer sees something, of another epoch than this one."""

        def all_so() -> bool:
            seen = [each.seen for each in self.viewers]
            return all(each is not None and each.feed.epoch != but for each in seen)

        if not _until(all_so):
            raise RuntimeError("a viewer sees nothing")

    def _run(self, name: str, *words: str, counts: bool = True, cwd: Path | None = None) -> None:
        status = self._call(words, cwd or self.directory / name)
        if counts:
            known = words[0] in ("task", "phase") or words[1:2] in (("answer",), ("cancel",))
            kind = " ".join(words[: 2 if known else 1])
            self.counts[kind] += 1
            if status:
                self.refused[kind] += 1

    def _exec(self, words: Sequence[str], cwd: Path) -> int:
        done = subprocess.run(
            [*self._siding, *words],
            cwd=cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_WAITS_S,
        )
        return done.returncode

    def _in_task(self, *words: str, last: bool = False) -> None:
        found = self._some_task()
        if found is not None:
            named = (found[1],) if last else ("-t", found[1])
            place = 1 if words[0] == "run" else len(words)
            self._run(found[0], *words[:place], *named, *words[place:])

    def _rows(self) -> Feed:
        seen = self.viewers[0].seen
        assert seen is not None
        return seen.feed

    def _tasks(self, project: str, *, done: bool = False) -> list[str]:
        rows = [row for row in self._rows().rows if row.project_name == project]
        return [row.id for row in rows if row.kind == "task" and (row.state is State.DONE) == done]

    def _some_task(self, *, done: bool = False) -> tuple[str, str] | None:
        found = [(each, task) for each in PROJECTS for task in self._tasks(each, done=done)]
        return self._random.choice(sorted(found)) if found else None

    def _live(self) -> list[Path]:
        return sorted(self.home.glob("projects/*/tasks/*/runs/r*.json"))

    def _some_live(self) -> tuple[str, str] | None:
        found = self._live()
        if not found:
            return None
        parts = self._random.choice(found).relative_to(self.home).parts
        return parts[1].rpartition("-")[0], parts[3]

    def _workspace(self, project: str, task: str) -> Path:
        return next(self.home.glob(f"projects/{project}-*/workspaces/{task}"), self.directory)

    def _kill(self, which: str, all_of_it: tuple[str, ...]) -> None:
        found = self._live()
        if not found:
            return
        path = self._random.choice(found)
        try:
            record = json.loads(path.read_text())
            pids = [int(record[each]["pid"]) for each in all_of_it]
            os.kill(int(record[which]["pid"]), signal.SIGKILL)
        except (OSError, KeyError, ValueError):
            return  # it has just ended
        _until(lambda: not any(_lives(pid) for pid in pids))
        self._pipes.pop(path.parent.parent.name, None)
        self.counts[f"kill {'host' if which == 'host' else 'agent'}"] += 1

    def _report(self, *, writes: str = "", **payload: Any) -> None:
        """Have the agent of some run tell its broker something."""
        if not self._pipes:
            return
        task = self._random.choice(sorted(self._pipes))
        pipe = self._pipes[task]
        told = {"session_id": task, "transcript_path": f"/t/{task}.jsonl", **payload}
        line = json.dumps({"do": "report", "id": 1, "agent": "claude", "payload": told})
        said = Path(f"{pipe}.said")
        before = said.stat().st_size if said.exists() else 0
        try:
            fd = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            self._pipes.pop(task)  # it has ended
            return
        with open(fd, "w") as file:
            file.write(f"write {writes}\n{line}\n" if writes else f"{line}\n")
        _until(lambda: said.exists() and said.stat().st_size > before)
        self.counts[str(payload["hook_event_name"])] += 1

    def _decide(self, verb: str, *words: str) -> None:
        asks = [each for each in self._rows().asks if each.kind in ("question", "gate")]
        if asks:
            ask = self._random.choice(sorted(asks, key=lambda each: each.id))
            project = ask.entry.project_dir.rpartition("-")[0]
            self._run(ask.entry.project or project, "decide", verb, ask.entry.session_id, *words)

    def _new(self) -> int:
        self._number += 1
        return self._number


def _table() -> dict[str, tuple[int, Callable[[World], None]]]:
    """Return how often what happens, and what that is."""
    return {
        "begin": (6, World.begin),
        "run": (12, World.run),
        "fail": (8, World.fail),
        "blocked": (3, World.blocked),
        "checkpoint": (2, World.checkpoint),
        "live": (10, World.live),
        "stop": (4, World.stop),
        "kill host": (4, World.kill_host),
        "kill agent": (4, World.kill_agent),
        "permission": (6, World.permission),
        "prompt": (6, World.prompt),
        "turn": (6, World.turn),
        "ask": (6, World.ask),
        "answer": (5, World.answer),
        "cancel": (2, World.cancel),
        "gate": (4, World.gate),
        "apply": (6, World.apply),
        "conflict": (3, World.conflict),
        "undo": (8, World.undo),
        "redo": (4, World.redo),
        "close": (3, World.close_task),
        "reopen": (3, World.reopen),
        "kill hub": (4, World.kill_hub),
        "kill viewer": (3, World.kill_viewer),
    }


def _same(seen: Feed, fresh: Feed) -> bool:
    return (
        {row.key: row for row in seen.rows} == {row.key: row for row in fresh.rows}
        and {ask.id: ask for ask in seen.asks} == {ask.id: ask for ask in fresh.asks}
        and seen.problems == fresh.problems
        and (seen.projects, seen.done_before) == (fresh.projects, fresh.done_before)
    )


def _difference(seen: list[Seen | None], fresh: Feed) -> str:
    parts = []
    for each in seen:
        if each is None:
            parts.append("it sees nothing")
            continue
        mine = {*each.feed.rows, *each.feed.asks}
        parts.append(
            f"{mine - {*fresh.rows, *fresh.asks}} is { ({*fresh.rows, *fresh.asks} - mine) }"
        )
    return "; ".join(parts)


def _until(is_so: Callable[[], bool]) -> bool:
    end = time.monotonic() + _WAITS_S
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def _lives(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
