"""The end of a hand-over: what was said on the agent's own screen, and that it is closed."""

from siding.chat.alone import writing
from siding.chat.earlier import earlier
from siding.chat.events import HandedBack
from siding.chat.store import Chat
from siding.chat.writer import StoryWriter
from siding.record.ledger.reports import AgentReport
from siding.record.place.project import Project
from siding.record.tasks.task import Task
from siding.record.workspaces.recovery import recover_cut_off


def take_back(
    project: Project, story: StoryWriter, reported: AgentReport | None, reason: str
) -> HandedBack:
    """Add what was said on the screen, and that it is closed."""
    session = "" if reported is None else reported.session
    since = story.talk.handed_over_at
    for each in earlier(project, session or story.talk.session, since=since).told:
        story.add(each)
    changed = session if session != story.talk.session else ""
    back = HandedBack(changed, 0 if reported is None else reported.prompts, reason)
    story.add(back, now=True)
    return back


def settle_handed_over(project: Project, task: Task, chat: Chat) -> None:
    """Take a conversation back whose screen was cut off. The caller holds its lock."""
    talk = chat.talk()
    if not talk.is_handed_over:
        return
    recover_cut_off(project)  # its screen is ended, and its run has a step then
    steps = project.ledger(task.id).newest_first()
    ran = next((each.as_run for each in steps if talk.run and each.run == talk.run), None)
    with writing(project, chat) as story:
        take_back(project, story, None if ran is None else ran.reported, "it was cut off")
