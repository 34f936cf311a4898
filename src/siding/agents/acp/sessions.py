"""Begin a conversation with an agent, or go on with one, and choose its model."""

from typing import Any

from acp import RequestError
from acp.client.connection import ClientSideConnection
from acp.schema import AgentCapabilities, InitializeResponse, SessionConfigOptionSelect

from siding.ground.namedtuples import NamedTuple


class NoSession(Exception):
    """The agent has not the conversation that is to be gone on with, or cannot go on with any."""


class Session(NamedTuple):
    """A conversation, and its model ("" if the agent does not say)."""

    id: str
    model: str = ""


async def begun(
    agent: ClientSideConnection, offered: InitializeResponse, *, resume: str, model: str, root: str
) -> Session:
    """Return the conversation for the prompt. Raises NoSession, RequestError."""
    if resume:
        options = await _gone_on_with(agent, offered, resume, root)
        found = resume
    else:
        new = await agent.new_session(cwd=root, mcp_servers=[])
        found, options = new.session_id, new.config_options
    chooser = _model_chooser(options)
    if chooser is None:
        return Session(id=found)
    if not model or chooser.current_value == model:
        return Session(id=found, model=chooser.current_value)
    try:
        await agent.set_config_option(config_id=chooser.id, session_id=found, value=model)
    except RequestError:
        return Session(id=found, model=chooser.current_value)
    return Session(id=found, model=model)


async def _gone_on_with(
    agent: ClientSideConnection, offered: InitializeResponse, session: str, root: str
) -> Any:
    can = offered.agent_capabilities or AgentCapabilities()
    of_sessions = can.session_capabilities
    try:
        if of_sessions is not None and of_sessions.resume is not None:
            resumed = await agent.resume_session(session_id=session, cwd=root, mcp_servers=[])
            return resumed.config_options
        if can.load_session:
            loaded = await agent.load_session(cwd=root, session_id=session, mcp_servers=[])
            return loaded.config_options
    except RequestError as error:
        raise NoSession(f"the agent has no conversation {session}: {error}") from error
    raise NoSession("the agent cannot go on with a conversation")


def _model_chooser(options: Any) -> SessionConfigOptionSelect | None:
    selects = [each for each in options or () if isinstance(each, SessionConfigOptionSelect)]
    return next((each for each in selects if each.category == "model"), None)
