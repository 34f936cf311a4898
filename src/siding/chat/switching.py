"""A change of the agent, carried out: the caller holds the conversation, and no agent lives."""

from siding.chat.alone import writing
from siding.chat.carrying import carried
from siding.chat.events import SwitchAsked, Switched
from siding.chat.requests import SwitchTo
from siding.chat.store import Chat
from siding.chat.talk import Talk
from siding.record.place.project import Project


def is_settled(talk: Talk) -> bool:
    """Tell whether nothing is on its way to an agent, and none is held."""
    on_its_way = talk.sent is not None or talk.steered
    return not (talk.is_held_by_host or talk.is_running or on_its_way or talk.is_handed_over)


def wants_switch(chat: Chat) -> bool:
    """Tell whether somebody wants another agent."""
    asked = any(isinstance(each.request, SwitchTo) for each in chat.requests.waiting())
    return asked or chat.talk().switching is not None


def carry_out(project: Project, chat: Chat) -> bool:
    """Change the agent as was asked; tell whether it was changed."""
    _talk, done = chat.talk_and_done()
    with writing(project, chat) as story:
        for asked in chat.requests.waiting():
            if isinstance(asked.request, SwitchTo) and asked.id not in done:
                wanted = SwitchAsked(*asked.request[:4], asked.by, asked.request.forced)
                story.add(wanted, asked.id, now=True)
        talk = story.talk
        if talk.switching is None:
            return False
        to = talk.switching
        back = talk.parked_of(to.agent)
        along = carried(talk, to.agent)
        switched = Switched(to.agent, to.program, to.options, to.model, "", *along)
        if back is not None:
            options, model = to.options or back.options, to.model or back.model
            switched = switched._replace(options=options, model=model, session=back.session)
        story.add(switched, now=True)
    return True
