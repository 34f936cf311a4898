"""Make the card of an ask: read what it is about, as far as it has to be read.

This reads files, so it is called in a thread.
"""

from siding.applying.unresolved import merging
from siding.asking.lookup import get
from siding.asking.views import InboxEntry, Waits
from siding.chat.says import TURN_FAILED
from siding.effect.effect import EffectState
from siding.effect.store import effect_of_entry, shown_lines
from siding.faces.tui.cards.act_card import ActCard, Choice, Guard
from siding.faces.tui.cards.card import Card, CardAct
from siding.faces.tui.cards.codes import Codes
from siding.faces.tui.cards.decision_card import DecisionCard
from siding.feed.addresses import is_chat_id
from siding.feed.model import Ask, AskKind
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.guard.hooks import repository_hooks
from siding.record.place.project import Project, named_project
from siding.record.place.wiring import App

_EFFECT_FILES = 6
_EFFECT_LINES = 12  # of the patch of a tool that edits
_OPEN = Choice("open it", CardAct.OPEN)
_DECISIONS = (AskKind.QUESTION, AskKind.PERMISSION, AskKind.GATE)
_CHOICES = {
    AskKind.AGENT: (Choice("go to its screen (ctrl+] comes back)", CardAct.ATTACH), _OPEN),
    AskKind.CONFLICT: (
        Choice(
            "apply what was resolved",
            CardAct.CONTINUE,
            Guard.TWICE,
            "applies what is in the workspace now",
        ),
        Choice(
            "take the merge back",
            CardAct.TAKE_BACK,
            Guard.TWICE,
            "puts the workspace back to before the merge, as a step",
        ),
        _OPEN,
    ),
    AskKind.BLOCKED: (_OPEN, Choice("put it away: it is seen", CardAct.PUT_AWAY)),
    AskKind.FAILURE: (
        Choice(
            "retry from before it",
            CardAct.RETRY,
            Guard.TWICE,
            "goes back to before it and does it again, in the background",
        ),
        _OPEN,
        Choice("put it away: it is seen", CardAct.PUT_AWAY),
    ),
    AskKind.WORKFLOW: (
        Choice("resume", CardAct.RESUME),
        _OPEN,
        Choice(
            "put its run away",
            CardAct.PUT_AWAY,
            Guard.TWICE,
            "puts the run into the project's trash",
        ),
    ),
    AskKind.HOOKS: (Choice("allow them", CardAct.TRUST, Guard.CODE, "lets these commands run"),),
}


class ShownEffect(NamedTuple):
    """What would be changed by what is asked about. `is_pending`: it is being found out."""

    lines: tuple[str, ...] = ()
    is_pending: bool = False


def effect_of_ask(app: App, ask: Ask) -> ShownEffect:
    """Return what is known of the effect of what is asked; nothing if it changes no file."""
    if ask.kind is not AskKind.PERMISSION:
        return ShownEffect()
    found = effect_of_entry(app, ask.entry)
    if found is None:
        return ShownEffect()
    pending = found.state is EffectState.PENDING
    lines = shown_lines(found, files=_EFFECT_FILES, patch=_EFFECT_LINES)
    return ShownEffect(tuple(lines), pending)


def card_of(app: App, ask: Ask, codes: Codes) -> Card:
    """Return the card of an ask. Raises SidingError if what it asks about cannot be read."""
    entry = ask.entry
    if ask.kind in _DECISIONS and entry.page:
        decision = get(project_of(app, entry), entry.session_id)
        effect = effect_of_ask(app, ask).lines
        return DecisionCard(ask.id, ask.kind, decision, codes, effect=effect)
    lines = [entry.detail] if entry.detail and entry.detail not in entry.title else []
    choices = _CHOICES.get(ask.kind, (_OPEN,))
    if ask.kind is AskKind.WORKFLOW and " resume " not in entry.command:
        choices = choices[1:]  # it would fail again
    if is_chat_id(entry.step_id):
        choices = _of_chat(entry)
    if ask.kind is AskKind.CONFLICT:
        lines += _conflicts(app, entry)
    if ask.kind is AskKind.HOOKS:
        found = repository_hooks(project_of(app, entry))
        lines = [f"{moment}: {each}" for moment, those in found.hooks.items() for each in those]
        choices = tuple(each._replace(value=found.digest) for each in choices)
    if ask.kind is AskKind.QUESTION:  # its file is damaged
        lines.append(f"`{entry.command}` says more")
        choices = (_OPEN,)
    return ActCard(ask.id, entry.title, tuple(lines), choices, codes)


def _of_chat(entry: InboxEntry) -> tuple[Choice, ...]:
    """Return what can be done for a conversation to go on, or for its failure to be seen."""
    command = entry.command
    if " chat again " in command:
        drop = command.replace(" again ", " drop ", 1)
        again = Choice("send it again", CardAct.CHAT, value=command)
        return (again, Choice("drop it", CardAct.CHAT, value=drop), _OPEN)
    if " chat go-on " in command:
        return (Choice("send what waits", CardAct.CHAT, value=command), _OPEN)
    if entry.kind != Waits.FAILED:
        return (_OPEN,)
    if not entry.title.startswith(TURN_FAILED):  # its agent has ended
        return (_OPEN, Choice("put it away: it is seen", CardAct.PUT_AWAY))
    end = command.replace(" show ", " end ", 1)
    return (_OPEN, Choice("end its agent; a prompt brings it back", CardAct.CHAT, value=end))


def _conflicts(app: App, entry: InboxEntry) -> list[str]:
    """Return the files of a conflict, each with whether there is something left to resolve."""
    found = merging(project_of(app, entry), TaskId(entry.task_id))
    if found is None:
        return []
    shown = [f"{each.name} ({'left' if each.is_left else 'resolved'})" for each in found.paths]
    return [f"{found.left} left of {len(found.paths)}, with {found.branch}", *shown]


def project_of(app: App, entry: InboxEntry) -> Project:
    """Return the project that an entry is of. Raises NotFound."""
    return named_project(app._replace(project=entry.project_dir.rpartition("/")[2]))
