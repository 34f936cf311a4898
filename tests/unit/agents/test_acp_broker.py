"""What a broker answers about a command of an agent that speaks ACP: nonsense is no leave."""

from typing import Any

import pytest

from siding.agents.acp.broker import denied_in


@pytest.mark.parametrize(
    ("output", "denied"), [("", ""), ("{}", ""), ('{"deny": "not here"}', "not here")]
)
def test_an_answer_is_read(output: str, denied: str) -> None:
    assert denied_in({"output": output, "status": 0}) == denied


@pytest.mark.parametrize("output", [0, None, False, {}, [], "[]", "null", "1", '{"deny": 1}', "{"])
def test_nonsense_is_none(output: Any) -> None:
    with pytest.raises(ValueError, match=r"broker|Expecting"):
        denied_in({"output": output, "status": 0})


def test_neither_is_an_answer_without_output() -> None:
    with pytest.raises(ValueError, match="no text"):
        denied_in({"status": 0})
