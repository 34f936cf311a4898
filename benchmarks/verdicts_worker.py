"""Judges one line, as `siding run` does before it starts anything."""

import sys

from siding.agents.table import BY_PROGRAM, OBEYED
from siding.shellguard.agents import KnownAgents
from siding.shellguard.engine import check_line
from siding.shellguard.paths import JudgingPlace

PLACE = JudgingPlace(
    cwd="/repos/proj",
    workspace="/repos/proj",
    home="/home/dev",
    agents=KnownAgents(programs=frozenset(BY_PROGRAM), obeyed=OBEYED),
)

if __name__ == "__main__":
    print(check_line(sys.argv[1], PLACE).action)
