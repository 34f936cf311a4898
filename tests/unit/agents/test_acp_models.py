"""The model of a conversation with an agent that speaks ACP: asked for only if it is another."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from acp import RequestError
from acp.schema import SessionConfigOptionSelect

from siding.agents.acp.bridge_program import Session, begun


class Agent:
    """An agent with a conversation whose model may be chosen, and what was chosen."""

    def __init__(self, model: str, *, refuses: bool = False) -> None:
        option = SessionConfigOptionSelect.model_construct(
            id="which", category="model", current_value=model
        )
        self.options = [option] if model else []
        self.refuses = refuses
        self.chosen: list[str] = []

    async def new_session(self, **_asked: Any) -> SimpleNamespace:
        return SimpleNamespace(session_id="s", config_options=self.options)

    async def set_config_option(self, *, config_id: str, session_id: str, value: str) -> None:
        assert (config_id, session_id) == ("which", "s")
        self.chosen.append(value)
        if self.refuses:
            raise RequestError.invalid_params()


@pytest.mark.parametrize(
    ("has", "wanted", "refuses", "chosen", "model"),
    [
        ("small", "", False, [], "small"),
        ("small", "small", False, [], "small"),
        ("small", "large", False, ["large"], "large"),
        ("small", "large", True, ["large"], "small"),
        ("", "large", False, [], ""),
    ],
)
def test_a_model_is_chosen_if_it_is_another_and_can_be(
    has: str, wanted: str, refuses: bool, chosen: list[str], model: str
) -> None:
    agent: Any = Agent(has, refuses=refuses)
    offered: Any = None
    found = asyncio.run(begun(agent, offered, resume="", model=wanted, root="/w"))
    assert found == Session(id="s", model=model)
    assert agent.chosen == chosen
