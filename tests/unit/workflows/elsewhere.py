"""Run a workflow in a process of its own, and print what it returned and recorded.

    elsewhere.py JOURNAL SEED SLOTS

The agents take a time drawn by SEED. What the script does follows from the order of sets.
"""

import json
import sys
from pathlib import Path

from unit.workflows.laws import CountingAgents, counted_lines, run_drawn
from unit.workflows.random_scripts import Drawn

SOURCE = """
names = {f"name{n}" for n in range(12)} | set("abcdef")

async def first(name):
    return await agent(f"ask {name}")

async def second(said, name):
    return await agent(f"ask {name} after {said}, before {list(names - {name})[:3]}")

told = await pipeline(names, first, second)
both = await parallel([lambda n=n: agent(f"weigh {n}") for n in {*told} - {None}])
return [list(names), told, both, await agent(f"sum up {set(map(str, both))}")]
"""


def main(journal: Path, seed: int, slots: int) -> None:
    """Run it once, and print it as JSON."""
    ran = run_drawn(
        Drawn(source=SOURCE, files={}), journal, CountingAgents(seed), max_concurrency=slots
    )
    assert ran.done.status == "completed", ran.done
    print(json.dumps([ran.done.value, counted_lines(journal)], sort_keys=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
