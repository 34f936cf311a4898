"""The feed while everything happens that can: are the viewers right, how soon, and at what cost.

``python -m benchmarks.feed --events 1000 --seed 40`` prints the counts; as a figure of the suite it
has the same, with fewer events.
"""

import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter_ns

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.dashboard import cpu_ms
from benchmarks.feed_world import World
from benchmarks.idle_runs import memory_of
from benchmarks.measure import Sample, Timing
from siding.feed.fold import feed_of

GOAL_MS = 1000
VIEWERS = 2
SETTLED_S, IDLE_S = 3, 20
_CHILDREN_FAULTS = 8  # of /proc/PID/stat behind the name: page faults of children that were awaited


def _measure(bench: Bench) -> Iterator[Row]:
    for events in bench.sizes(40, 200, 1000):
        world = World(
            bench.scratch(f"feed-{events}"),
            [str(bench.siding)],
            bench.home(f"feed-home-{events}"),
            seed=events,
            viewers=VIEWERS,
        )
        try:
            world.play(events)
            looks = Timing(tuple(_look(world) for _ in range(5)))
            memory, idle = _idle(world.hub())
        finally:
            world.close()
        told = [*_told(world), f"the hub has {memory:.0f} MB and idle takes {idle}"]
        timing = Timing(tuple(Sample(each * 1e3, 0) for each in world.seconds_of("")))
        yield Row(
            "feed",
            f"{events:,} events in 3 projects, {VIEWERS} viewers",
            events,
            timing,
            looks,
            "a fresh look at all files",
            GOAL_MS,
            Goal.OVER,
            "; ".join(told),
        )


def _told(world: World) -> list[str]:
    """Return the counts and the times, each as a phrase."""
    told = [f"{len(world.wrong)} wrong states"]
    for name, of in (("an event", ""), ("hub again", "hub again"), ("viewer again",) * 2):
        found = sorted(world.seconds_of(of))
        if found:
            p50, p99 = (found[int((len(found) - 1) * part)] * 1e3 for part in (0.5, 0.99))
            told.append(
                f"{name}: {len(found)} times, p50 {p50:.0f} ms, p99 {p99:.0f}, "
                f"max {found[-1] * 1e3:.0f}"
            )
    return told


def _look(world: World) -> Sample:
    begun = perf_counter_ns()
    feed_of(world.app)
    return Sample((perf_counter_ns() - begun) / 1e6, 0)


def _idle(hub: int) -> tuple[float, str]:
    """Return the memory of the hub, and what it costs while nothing happens."""
    time.sleep(SETTLED_S)
    faults, spent, begun = awaited_faults(hub), cpu_ms(hub), time.monotonic()
    time.sleep(IDLE_S)
    share = (cpu_ms(hub) - spent) / (time.monotonic() - begun) / 10
    started = "starts processes" if awaited_faults(hub) != faults else "starts no process"
    return memory_of(hub), f"{share:.2f} % of a core and {started}"


def awaited_faults(pid: int) -> int:
    """Return a count that grows whenever a child of a process ends."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[_CHILDREN_FAULTS])


def main(words: Sequence[str]) -> int:
    """Play the events and print what came of them; 1 if a viewer was wrong."""
    parser = ArgumentParser(prog="python -m benchmarks.feed", description=__doc__)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=40)
    parser.add_argument("--viewers", type=int, default=VIEWERS)
    parser.add_argument("--dir", help="where to work (default: the temporary directory)")
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="siding-feed-", dir=asked.dir) as directory:
        bench = Bench(Path(directory), quick=False)
        world = World(
            bench.scratch("world"),
            [str(bench.siding)],
            bench.env,
            seed=asked.seed,
            viewers=asked.viewers,
        )
        try:
            world.play(asked.events)
            memory, idle = _idle(world.hub())
        finally:
            world.close()
    print(f"{world.counts.total()} events, of which {world.refused.total()} were refused:")
    for name, count in world.counts.most_common():
        print(
            f"  {count:5} {name}" + (f" ({world.refused[name]} refused)" * (name in world.refused))
        )
    print("\n".join(_told(world)))
    print(f"the hub: {memory:.1f} MB; idle {idle}")
    for each in world.wrong:
        print(f"WRONG {each}")
    return 1 if world.wrong else 0


FIGURE = Figure(
    title="the feed while things happen and are killed",
    goal="no wrong state; at most 1 s from an event to the viewers",
    floor="one fresh look at all files",
    follows="what the hub folds of one event, not the number of tasks",
    measure=_measure,
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
