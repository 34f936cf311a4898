"""The docs have each event of a story with its fields; the tables are made of the source."""

from unit.chat.event_tables import PAGE, kinds_of_agents, own_kinds, parts, tables


def test_the_docs_have_the_tables_of_the_events() -> None:
    page = PAGE.read_text("utf-8")
    missing = [each for each in tables() if each not in page]
    assert "\n\n".join(missing) == "", "`python -m unit.chat.event_tables` puts them there"


def test_each_event_says_in_a_sentence_what_it_is() -> None:
    # A tuple without a docstring has one that repeats its fields.
    unsaid = [
        each.__name__
        for each in (*own_kinds(), *kinds_of_agents(), *parts())
        if not (each.__doc__ or "").endswith(".")
    ]
    assert unsaid == []
