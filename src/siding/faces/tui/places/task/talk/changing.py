"""What a person changes: prompts that wait, and what the agent works with."""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from siding.chat.abilities import EFFORTS, abilities_of
from siding.chat.requests import FIRST, Change
from siding.chat.settings import own_of
from siding.chat.talk import Waiting
from siding.faces.tui.places.task.sheet import Choice
from siding.faces.tui.places.task.talk.port import TalkPort
from siding.faces.tui.places.task.talk.queue_list import Queued, QueueList
from siding.faces.tui.places.task.talk.slash import Slash
from siding.faces.tui.places.task.talk.writing import Writing
from siding.faces.tui.text import inert
from siding.ground.errors import SidingError
from siding.running.apart import act_in_chat

_LATE = "nothing was changed: the agent has it, or it was dropped"
_NO_TURN = "no turn runs that takes it: it goes when its turn comes, if it still waits"
_OTHER = "~"  # the choice of one that is typed


class ChangingPort(TalkPort, Protocol):
    """The tab, with the list of what waits and the field."""

    queue: QueueList
    writing: Writing

    def to_field(self) -> None:
        """Give the keys to the field."""


class Changing:
    """Acts on the prompt under the cursor, and on the settings."""

    def __init__(self, tab: ChangingPort) -> None:
        self._tab = tab

    # Prompts that wait.

    def edit(self) -> None:
        """Let the text be typed anew; it goes into its place in the queue."""
        found = self._waiting()
        if found is None:
            return
        acts, waiting, page = self._tab.acts, found.waiting, self._tab.page

        def then(words: str) -> None:
            self._tab.asked(
                lambda: "the prompt is changed" if acts.edit(waiting.prompt, words) else _LATE
            )

        page.port.work(
            partial(acts.words_of, waiting),
            then=lambda words: page.ask_text("prompt that waits", then, text=words),
        )

    def drop(self) -> None:
        """Take it out: the agent does not get it."""
        found = self._tab.queue.chosen
        if found is not None:
            prompt, acts = found.waiting.prompt, self._tab.acts
            self._tab.asked(lambda: "it is dropped" if acts.drop(prompt) else _LATE)

    def steer_now(self) -> None:
        """Give it into the turn that runs."""
        found = self._waiting()
        if found is not None:
            prompt, acts = found.waiting.prompt, self._tab.acts
            self._tab.asked(
                lambda: "it goes into the running turn" if acts.steer_now(prompt) else _NO_TURN
            )

    def again(self) -> None:
        """Send a prompt again of which nobody knows whether the agent has it."""
        found = self._tab.queue.chosen
        if found is None or not found.is_unsure:
            self._tab.page.port.say("it waits: it is sent when its turn comes")
            return
        prompt, acts = found.waiting.prompt, self._tab.acts
        self._tab.asked(lambda: "it is sent again" if acts.again(prompt) else _LATE)

    def move(self, step: int) -> None:
        """Put it before the one above it, or behind the one below it."""
        found = self._waiting()
        if found is None:
            return
        queue, at = self._tab.talk.queue, found.number - 1
        if not 0 <= at + step < len(queue):
            self._tab.page.port.say("it is the first" if step < 0 else "it is the last")
            return
        before = _before(queue, at, step)
        prompt, acts = found.waiting.prompt, self._tab.acts
        self._tab.asked(lambda: "" if acts.move(prompt, before) else _LATE)

    def _waiting(self) -> Queued | None:
        found = self._tab.queue.chosen
        if found is not None and found.is_unsure:
            self._tab.page.port.say("nobody knows whether the agent has it: a again, d drop")
            return None
        return found

    # What the agent works with.

    def mode(self) -> None:
        """Let a mode be chosen of those that the agent has said."""
        chat = self._tab.chat
        if chat is not None:
            own = partial(own_of, chat)
            self._tab.page.port.work(own, then=lambda found: self._choose("mode", found.modes))

    def model(self) -> None:
        """Let a model be chosen of those that the agent has said, or typed: it takes others."""
        chat = self._tab.chat
        if chat is not None:
            own = partial(own_of, chat)
            self._tab.page.port.work(own, then=lambda found: self._choose("model", found.models))

    def effort(self) -> None:
        """Let an effort be chosen."""
        self._choose("effort", EFFORTS)

    def _choose(self, name: str, found: Sequence[str]) -> None:
        if self._tab.chat is None:
            self._tab.page.port.say("there is no conversation yet")
            return
        agent, now = self._tab.talk.agent, getattr(self._tab.talk, name)
        if not self._can(agent, name):
            self._tab.page.port.say(f"the {name} of {agent} cannot be set in a conversation")
            return

        def then(value: str) -> None:
            if value == _OTHER:
                self._tab.page.ask_text(name, lambda text: self.set(name, text.strip()), text=now)
            else:
                self.set(name, value)

        if not found:
            then(_OTHER)
            return
        rows = [
            Choice(
                [(inert(each), "text"), ("  it is this now" if each == now else "", "dim")], each
            )
            for each in found
        ]
        rows.append(Choice([("another one: it is typed", "dim")], _OTHER))
        self._tab.page.choose(f"{name} of {agent}", rows, then)

    def set(self, name: str, value: str) -> None:
        """Change one setting, and say what holds then."""
        if value and self._tab.chat is not None:
            acts = self._tab.acts
            self._tab.asked(partial(acts.set, Change(**{name: value})))

    def _can(self, agent: str, name: str) -> bool:
        try:
            can = abilities_of(agent)
        except SidingError:
            return False
        return {"model": can.models, "mode": can.modes, "effort": can.efforts}[name]

    # The same behind a `/`.

    def commands(self) -> list[Slash]:
        """Return the commands about this conversation."""
        return [
            Slash("model", "the model that the agent works with", self._setting("model")),
            Slash("mode", "what it may do without asking", self._setting("mode")),
            Slash("effort", "how much it thinks", self._setting("effort")),
            Slash("stop", "end the turn, and drop what waits", self._act("stop")),
            Slash("end", "end the agent; a prompt brings it back", self._act("end")),
            Slash("go-on", "send what is held", self._act("go_on")),
            Slash("switch", "have another agent go on, by its name", self._switch),
            Slash("picture", "a picture of a file goes along", self._picture),
        ]

    def _setting(self, name: str) -> "Runs":
        def run(value: str) -> None:
            if value:
                self.set(name, value)
            else:
                getattr(self, name)()

        return run

    def _act(self, name: str) -> "Runs":
        def run(_rest: str) -> None:
            if self._tab.chat is None:
                self._tab.page.port.say("there is no conversation yet")
            else:
                self._tab.asked(getattr(self._tab.acts, name))

        return run

    def _switch(self, agent: str) -> None:
        chat, opened = self._tab.chat, self._tab.page.opened
        if chat is None or not agent:
            self._tab.page.port.say("which agent is to go on: /switch codex")
            return
        project = opened.project
        words = ["switch", agent, "-t", opened.task.id, "-c", chat.id]
        self._tab.asked(lambda: act_in_chat(project.app, project.paths.root, words))

    def _picture(self, path: str) -> None:
        writing, port = self._tab.writing, self._tab.page.port

        def attach() -> None:
            try:
                port.say(writing.attach(path))
            except SidingError as error:
                port.say(f"{error.message}\n{error.hint or ''}".strip(), "error")

        writing.field.call_after_refresh(attach)  # the line of the command goes first


class Runs(Protocol):
    """Carries out a command, with what stands behind its name."""

    def __call__(self, rest: str, /) -> None: ...


def _before(queue: Sequence[Waiting], at: int, step: int) -> str:
    """Return before which prompt one is put: the first for one that is moved to the top."""
    if step < 0:
        return FIRST if at + step == 0 else queue[at + step].prompt
    return queue[at + 2].prompt if at + 2 < len(queue) else ""
