"""How the agent of a conversation is begun: its command line, and the run in which it is held."""

from collections.abc import Mapping
from pathlib import Path

from siding.agents.talking.any_program import agent_of_run, talking_of
from siding.agents.talking.port import Hold, Opening, Talking, Troubled
from siding.chat.failing import CannotHold
from siding.chat.going_back import held_there
from siding.chat.servers import kept_servers, not_taken, taken_by
from siding.chat.store import Chat
from siding.chat.talk import Talk
from siding.ground.namedtuples import NamedTuple
from siding.running.request import RunRequest


class Begun(NamedTuple):
    """An agent that is about to be started."""

    talking: Talking
    hold: Hold
    opening: Opening
    left_out: tuple[Troubled, ...] = ()  # what it was to be given and cannot take


def begun(
    chat: Chat, talk: Talk, workspace: Path, env: Mapping[str, str], new_session: str
) -> Begun:
    """Return how it is started where the conversation stands; `new_session` is for a new one.

    The opening says why that is not possible. Raises CannotHold for an agent that nobody knows.
    """
    talking = talking_of(talk.agent)
    if talking is None:
        about = f"nobody has said how {talk.agent!r} is held"
        raise CannotHold(about if talk.agent else "its story does not say which agent it is with")
    servers = kept_servers(chat)
    hold = Hold(
        program=talk.program,
        cwd=workspace,
        env=env,
        directory=str(chat.for_agent),
        options=talk.options,
        model=talk.model,
        mode=talk.mode,
        effort=talk.effort,
        servers=taken_by(talking.abilities, servers),
    )
    hold = held_there(talk, hold, new_session)
    left_out = tuple(not_taken(talk.agent, talking.abilities, servers))
    return Begun(talking, hold, talking.opened(hold), left_out)


def request_of(request: RunRequest, opening: Opening, agent: str, chat: Chat) -> RunRequest:
    """Return what is to be run: `request`, with the agent as it is opened."""
    env = {**request.env, **opening.env}
    found = request._replace(argv=opening.argv, env=env, agent=agent_of_run(agent))
    if not opening.files:
        return found
    read = (*request.sandbox.read, str(chat.for_agent))  # where the home is closed to it
    return found._replace(sandbox=request.sandbox._replace(read=read))
