"""What llm, a model's command line, keeps in a home."""

from siding.agents.sandbox_homes import AgentPlaces, below

PLACES = AgentPlaces(
    readable=below(
        ".config/io.datasette.llm",
        "keys.json",
        "extra-openai-models.yaml",
        "default_model.txt",
        "aliases.json",
        "templates",
    ),
)
