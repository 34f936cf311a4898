"""What a screen asks of a conversation.

A screen has threads, so it cannot fork: a host that has to be started is started by a command of
its own. What lives is asked directly. Every act may wait, so it is called in a thread.
"""

import time
from collections.abc import Sequence

from siding.chat.abilities import abilities_of
from siding.chat.conversations import Task, give, put, refuse_steer, require_settable, require_words
from siding.chat.handover import refuse_on_screen
from siding.chat.outcome import carried_out
from siding.chat.pictures import Picture
from siding.chat.requests import (
    Change,
    Compact,
    DropPrompt,
    EditPrompt,
    EndTalk,
    GivePrompt,
    GoOn,
    MovePrompt,
    Request,
    SendAgain,
    SteerPrompt,
    StopTurn,
)
from siding.chat.settings import change
from siding.chat.store import Chat
from siding.chat.talk import Waiting
from siding.ground.errors import UsageError
from siding.record.place.project import Project
from siding.running.apart import act_in_chat

_TAKEN_WITHIN_S = 2.0  # by a host that lives
_LOOK_S = 0.01


class Acts:
    """The acts on one conversation. `by` is who asks, as its story says it."""

    def __init__(self, project: Project, task: Task, chat: Chat, *, by: str) -> None:
        self._project, self._task, self._chat, self._by = project, task, chat, by

    # -- Prompts -----------------------------------------------------------------------------------

    def send(self, words: str, pictures: Sequence[Picture] = ()) -> str:
        """Queue a prompt, and start the agent if it has ended; return the prompt's id."""
        prompt = give(self._project, self._chat, words, by=self._by, pictures=pictures)
        self._see_to_host()
        return prompt

    def steer(self, words: str, pictures: Sequence[Picture] = ()) -> str:
        """Give a prompt into the running turn. Raises UsageError where the agent takes none."""
        refuse_steer(self._chat)
        prompt = give(self._project, self._chat, words, by=self._by, pictures=pictures, steers=True)
        self._see_to_host()
        return prompt

    def edit(self, prompt: str, words: str) -> bool:
        """Change a prompt that waits; tell whether it still did."""
        require_words(words)
        return self._carried_out(EditPrompt(prompt, words))

    def drop(self, prompt: str) -> bool:
        """Take a prompt out that waits, or is unsure; tell whether it was there."""
        return self._carried_out(DropPrompt(prompt))

    def move(self, prompt: str, before: str) -> bool:
        """Put a prompt before another that waits; last for "", first for `requests.FIRST`."""
        return self._carried_out(MovePrompt(prompt, before))

    def steer_now(self, prompt: str) -> bool:
        """Give a prompt that waits into the running turn; tell whether it went.

        Raises UsageError where the agent takes none.
        """
        refuse_steer(self._chat)
        if not self._chat.has_host():
            raise UsageError("no turn runs into which it could go", hint="it is the next prompt")
        return self._carried_out(SteerPrompt(prompt))

    def again(self, prompt: str) -> bool:
        """Send a prompt again of which nobody knows whether it was taken."""
        done = self._carried_out(SendAgain(prompt))
        self._see_to_host()
        return done

    def words_of(self, waiting: Waiting) -> str:
        """Return a prompt that waits as it was given: the story has its secrets masked."""
        return self._chat.prompt(waiting.prompt) or waiting.text

    # -- The turn, and the agent -------------------------------------------------------------------

    def stop(self) -> str:
        """End the running turn and drop what waits; say so. Raises UsageError if nothing runs."""
        refuse_on_screen(self._chat)
        if not self._chat.has_host():
            raise UsageError("nothing runs: nobody holds its agent", hint="a prompt brings it back")
        put(self._project, self._chat, StopTurn(), by=self._by)
        return "it is told to stop; what waited is dropped"

    def end(self) -> str:
        """End the agent when its turn has ended; say so."""
        refuse_on_screen(self._chat)
        if not self._chat.has_host():
            return "no agent is there"
        put(self._project, self._chat, EndTalk(), by=self._by)
        return "the agent ends with this turn; a prompt brings it back"

    def go_on(self) -> str:
        """Send what is held; say so."""
        if not self._chat.has_host():
            return self._in_command("go-on")
        carried_out(self._project, self._task, self._chat, GoOn(), by=self._by, start=self._start)
        return "it goes on"

    def compact(self) -> str:
        """Have the agent make its conversation shorter; say so. Raises UsageError if it cannot."""
        agent = self._chat.talk().agent
        if not abilities_of(agent).compacts:
            raise UsageError(f"{agent} is not told over its protocol to compact a conversation")
        if not self._chat.has_host():
            return self._in_command("compact")
        put(self._project, self._chat, Compact(), by=self._by)
        return "it is made shorter when no turn runs"

    def set(self, wanted: Change) -> str:
        """Change what the agent works with; say what holds. Raises UsageError if it cannot be."""
        require_settable(self._chat.talk().agent, **wanted._asdict())
        done = change(self._project, self._task, self._chat, wanted, by=self._by, start=self._start)
        if done.trouble:
            raise UsageError(f"the agent has not changed it: {done.trouble}")
        talk = done.talk
        holds = {"model": talk.model, "mode": talk.mode, "effort": talk.effort}
        said = []
        for name, value in wanted._asdict().items():
            if value:
                differs = f", and {value} was asked for" if holds[name] != value else ""
                said.append(f"the {name} is {holds[name] or 'not known'}{differs}")
        if done.has_agent and not done.is_read_back:
            said.append("the agent has not said so yet")
        return "; ".join(said)

    # -- How ---------------------------------------------------------------------------------------

    def _carried_out(self, request: Request) -> bool:
        return carried_out(
            self._project, self._task, self._chat, request, by=self._by, start=self._start
        )

    def _see_to_host(self) -> None:
        """Start a host if none takes what was asked. One that is dying takes nothing any more."""
        end = time.monotonic() + _TAKEN_WITHIN_S
        while self._chat.has_host() and self._has_prompts() and time.monotonic() < end:
            time.sleep(_LOOK_S)
        if not self._chat.has_host():
            self._start(self._project, self._task, self._chat)

    def _has_prompts(self) -> bool:
        kinds = (GivePrompt, SendAgain)
        return any(isinstance(each.request, kinds) for each in self._chat.requests.waiting())

    def _start(self, _project: Project, _task: Task, _chat: Chat) -> None:
        self._in_command("go-on")

    def _in_command(self, verb: str) -> str:
        app, root = self._project.app, self._project.paths.root
        return act_in_chat(app, root, [verb, "-t", self._task.id, "-c", self._chat.id])
