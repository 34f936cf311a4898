"""The docs have each event of a story with its fields; the tables are made of the source."""

from pathlib import Path

from unit.chat.event_tables import kinds_of_agents, own_kinds, parts, table

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "chat-events.md"


def test_the_docs_have_the_tables_of_the_events() -> None:
    page = PAGE.read_text("utf-8")
    for kinds, are_events in ((own_kinds(), True), (kinds_of_agents(), True), (parts(), False)):
        wanted = table(kinds, are_events=are_events)
        assert wanted in page, f"put this into {PAGE.name}:\n\n{wanted}"


def test_each_event_says_in_a_sentence_what_it_is() -> None:
    # A tuple without a docstring has one that repeats its fields.
    unsaid = [
        each.__name__
        for each in (*own_kinds(), *kinds_of_agents(), *parts())
        if not (each.__doc__ or "").endswith(".")
    ]
    assert unsaid == []
