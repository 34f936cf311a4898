"""What can be asked of each agent is said in one table, and the docs have the same."""

from pathlib import Path

from siding.agents.talking.abilities import Abilities
from siding.chat.abilities import WORDS, all_abilities, rows

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "chat-agents.md"
LINE = "| {} |"


def table() -> str:
    agents = all_abilities()
    lines = [
        ("", *(f"`{each.agent}`" for each in agents)),
        ("---", *("---" for _ in agents)),
        *rows(agents),
    ]
    return "\n".join(LINE.format(" | ".join(cells)) for cells in lines)


def test_the_docs_have_the_table_of_what_each_agent_can() -> None:
    assert table() in PAGE.read_text("utf-8"), f"put this into {PAGE.name}:\n\n{table()}"


def test_each_ability_is_in_the_table() -> None:
    assert set(WORDS) == set(Abilities._fields)
