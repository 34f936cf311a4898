"""The row of Parrot: what it adds to the table of agents."""

from siding.agents.table import Agent

ROW = Agent(
    name="parrot",
    title="Parrot",
    programs=("parrot",),
    folder="parrot",
    facets=(
        *("places", "hooks", "settings", "headless", "wire"),
        *("home", "lines", "interchange", "counting"),
    ),
    obeys=(".parrot/",),
    traps=".parrot/ PARROT.md",
    no_screen=("--once",),
    alone=("--once",),
    resumes=("parrot", "--resume"),
    models=("squawk-",),
)
