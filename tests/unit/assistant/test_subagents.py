"""Kinds of subagents, as clients and files define them."""

import pytest

from siding.assistant.subagent_kinds import kinds_in
from siding.ground.errors import UsageError


def test_tools_are_a_list_or_a_text() -> None:
    (one, two, three) = kinds_in(
        {
            "a": {"description": "d", "tools": ["Read", "Grep"], "model": "haiku"},
            "b": {"description": "d", "tools": "Read, Grep", "disallowedTools": "Bash"},
            "c": {"description": "d", "prompt": "p", "model": "local:small"},
        }
    )
    assert one.tools == two.tools == ("Read", "Grep")
    assert (two.without, three.tools, three.without) == (("Bash",), None, ())
    assert (one.model, three.model, three.prompt) == ("", "local:small", "p")


@pytest.mark.parametrize("given", [[], "a", {"a": {}}, {"a": "b"}])
def test_what_defines_none_is_refused(given: object) -> None:
    with pytest.raises(UsageError):
        kinds_in(given)
