"""Judges one line, as `siding run` does before it starts anything."""

import sys

from siding.agents.table import BY_PROGRAM, OBEYED
from siding.shellguard.face import JudgingPlace, Policy

PLACE = JudgingPlace(
    cwd="/repos/proj",
    workspace="/repos/proj",
    home="/home/dev",
    agents=frozenset(BY_PROGRAM),
    obeyed=OBEYED,
)

if __name__ == "__main__":
    print(Policy().judge(sys.argv[1], PLACE).action)
