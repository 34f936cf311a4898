"""What llm, a model's command line, keeps in a home, and which hosts it needs."""

from siding.agents.places import APIS, AgentPlaces, below

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
HOSTS = APIS
