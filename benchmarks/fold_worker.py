"""Look at the feed of a home, or list the files it is made of, and tell how long one took.

A process of its own for the fold: ``python fold_worker.py feed|look|rest|floor COUNT``; the home
is that of the environment.
"""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from time import perf_counter_ns, process_time_ns

from siding.feed.fold import HomeFold, feed_of
from siding.record.place.wiring import App, open_app

MOST_WARM_UPS = 50


def main(what: str, count: int) -> None:
    """Look `count` times; print the wall and processor time of one look in milliseconds."""
    app = open_app(env=os.environ, cwd=Path("/"))
    look = {"feed": _anew, "look": _touched, "rest": _at_rest, "floor": _listing}[what](app)
    look()
    wall, cpu = perf_counter_ns(), process_time_ns()
    for _ in range(count):
        look()
    wall, cpu = perf_counter_ns() - wall, process_time_ns() - cpu
    print(json.dumps({"wall_ms": wall / 1e6 / count, "cpu_ms": cpu / 1e6 / count}))


def _anew(app: App) -> Callable[[], object]:
    """Look as a new process does. A look counts some differences only: first until all are."""
    before = feed_of(app)
    for _ in range(MOST_WARM_UPS):
        now = feed_of(app)
        if now == before:
            break
        before = now
    return lambda: feed_of(app)


def _touched(app: App) -> Callable[[], object]:
    """Look again after one task was touched, another one each time."""
    fold = HomeFold(app)
    fold.look()
    ledgers = cycle([f"{task}/ledger.jsonl" for task in _tasks(app)])

    def look() -> object:
        fold.touched([next(ledgers)])
        return fold.look()

    return look


def _at_rest(app: App) -> Callable[[], object]:
    fold = HomeFold(app)
    fold.look()
    return fold.look


def _listing(app: App) -> Callable[[], object]:
    tasks = _tasks(app)

    def listing() -> None:
        for task in tasks:
            os.stat(f"{task}/task.json")
            os.stat(f"{task}/ledger.jsonl")
            for name in ("runs", "intents"):
                with suppress(FileNotFoundError):
                    os.listdir(f"{task}/{name}")

    return listing


def _tasks(app: App) -> list[str]:
    return sorted(os.fspath(each) for each in app.home.projects_dir.glob("*/tasks/*"))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
