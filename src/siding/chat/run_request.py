"""The run in which the agent of a conversation is held."""

from siding.agents.talking.any_program import agent_of_run
from siding.agents.talking.port import Opening
from siding.chat.store import Chat
from siding.running.request import RunRequest


def request_of(request: RunRequest, opening: Opening, agent: str, chat: Chat) -> RunRequest:
    """Return what is to be run: `request`, with the agent as it is opened."""
    env = {**request.env, **opening.env}
    found = request._replace(argv=opening.argv, env=env, agent=agent_of_run(agent))
    if not opening.files:
        return found
    read = (*request.sandbox.read, str(chat.for_agent))  # where the home is closed to it
    return found._replace(sandbox=request.sandbox._replace(read=read))
