"""A task, or a run of a workflow, in plain mode: what it is at, and all acts on it."""

from collections.abc import Callable
from functools import partial

from siding.applying.pull_request import PullRequestRequest, prepare
from siding.chat.held_runs import HeldRuns
from siding.comments import comments
from siding.comments.comment import Side
from siding.faces.plans.acts import carry_out, plan
from siding.faces.plans.plan import ActRequest
from siding.faces.tui.acts import tasks
from siding.faces.tui.acts.pull_request import push_and_open
from siding.faces.tui.acts.reading import next_command, peek_at
from siding.faces.tui.acts.starting import as_line
from siding.faces.tui.plain import reading
from siding.faces.tui.plain.answering import Answering
from siding.faces.tui.plain.talk import NOTHING, Talk
from siding.faces.tui.text import inert
from siding.feed.model import Ask, Feed, Row, RowKind
from siding.ground.errors import counted
from siding.ground.ids import TaskId
from siding.record.place.project import Project
from siding.record.place.wiring import App

_STEPS = 5
_MORE_STEPS = 50
_PAGE = 20  # lines
_ACTS = ("apply", "undo", "redo", "sync", "close")
_FORCE = "force"
HELP = (
    "a number: open that question",
    "r: what it is at now",
    "s: more steps",
    "p: the patch, by pages",
    "o: the last lines that it printed",
    "t: what was said in its conversation, the newest by pages",
    "f: a prompt for the agent that runs, or the next command",
    "x: end what runs in it",
    "c: comment on a line of a file",
    "comments: all comments",
    "send: give the comments that were not sent yet to the agent",
    "apply, undo, redo, sync, close: what it would do; then it asks",
    "pr: what would be pushed as a pull request; then it asks",
    "b: back to the list",
    "q: leave; what runs goes on",
)


class TaskTalk:
    """Talks about one row. `look` returns the feed as it is now."""

    def __init__(self, app: App, talk: Talk, row: Row, look: Callable[[], Feed]) -> None:
        self._app = app
        self._talk = talk
        self._row = row
        self._look = look
        self._project: Project = tasks.project_of_row(app, row)
        self._asks: list[Ask] = []
        self._words: dict[str, Callable[[], None]] = {"r": self._say_row, "x": self._stop}
        if row.kind is RowKind.CHAT:
            self._words |= {"o": self._output, "f": self._follow_up, "t": self._story}
        if row.kind is RowKind.TASK:
            self._words |= {
                "s": partial(self._steps, _MORE_STEPS),
                "t": self._story,
                "p": self._patch,
                "o": self._output,
                "f": self._follow_up,
                "c": self._comment,
                "comments": self._comments,
                "send": self._send,
                "pr": self._pull_request,
                **{act: partial(self._plan_and_do, act) for act in _ACTS},
            }

    def run(self) -> None:
        """Talk until the person goes back. Raises Leave and Stopped."""
        self._say_row()
        if self._row.kind is RowKind.TASK:
            self._talk.guarded(partial(self._steps, _STEPS))
        while True:
            word = self._talk.ask(inert(self._row.name))
            if word == "b":
                return
            if word == "h":
                self._talk.say_all(HELP)
            elif word.isdecimal() and 1 <= int(word) <= len(self._asks):
                ask = self._asks[int(word) - 1]
                self._talk.guarded(partial(self._answer, ask))
            elif word in self._words:
                self._talk.guarded(self._words[word])
            else:
                self._talk.say(reading.no_choice(word))

    def _say_row(self) -> None:
        """Say what the row is at now, and what waits in it."""
        feed = self._look()
        found = {each.key: each for each in feed.rows}
        if self._row.key not in found:
            self._talk.say(f"gone: {inert(self._row.name)} is not in the list any more")
        self._row = found.get(self._row.key, self._row)
        self._talk.say(reading.row_line(self._row))
        self._asks = reading.asks_of(feed, self._row)
        for number, ask in enumerate(self._asks, 1):
            self._talk.say(f"{number}: {reading.ask_line(ask)}")

    def _answer(self, ask: Ask) -> None:
        self._talk.guarded(partial(Answering(self._app, self._talk).answer, ask))
        self._say_row()

    # What it holds.

    def _steps(self, many: int) -> None:
        self._talk.say_all(reading.step_lines(self._project, self._row.id, many))

    def _patch(self) -> None:
        self._talk.pages(
            reading.patch_of(self._project, self._row.id),
            page=_PAGE,
            nothing="nothing is changed",
            end="end of the patch",
        )

    def _output(self) -> None:
        found = peek_at(self._app, self._row)
        if found.problem:
            self._talk.say(f"error: {inert(found.problem)}")
        if found.prompt:
            self._talk.say(f"prompt: {inert(found.prompt)}")
        self._talk.say_all(f"output: {inert(line)}" for line in found.last_lines)
        if not found.last_lines and not found.problem:
            self._talk.say("nothing was printed")

    def _story(self) -> None:
        is_chat = self._row.kind is RowKind.CHAT
        task = self._row.parent.rpartition("/")[2] if is_chat else self._row.id
        self._talk.pages(
            reading.story_lines(self._project, task, self._row.id if is_chat else ""),
            page=_PAGE,
            nothing="nothing was said",
            end="end of the conversation",
        )

    # To whoever works in it.

    def _follow_up(self) -> None:
        self._say_row()
        if self._row.run or self._row.kind is RowKind.CHAT:
            asked = f"a prompt for {inert(self._row.agent or self._row.run)}, one line"
        else:
            again = as_line(next_command(self._app, self._row)).strip()
            if again:
                self._talk.say(f"the command that goes on: {inert(again)}")
            asked = "nothing runs: the next command"
        text = self._talk.ask(asked)
        if not text:
            self._talk.say(NOTHING)
            return
        self._talk.say(inert(tasks.follow_up(self._app, self._row, text)))

    def _stop(self) -> None:
        if self._talk.ask_anew("this ends what runs in it: type stop to do it") != "stop":
            self._talk.say(NOTHING)
            return
        self._talk.say(inert(tasks.stop(self._app, self._row)))

    def _comment(self) -> None:
        where = self._talk.ask("FILE:LINE or FILE:FIRST-LAST, as the file is now")
        if not where:
            self._talk.say(NOTHING)
            return
        wanted = comments.place_of(where, side=Side.NEW)
        said = self._talk.ask("your comment, one line")
        if not said:
            self._talk.say(NOTHING)
            return
        _task, placed = comments.add(self._project, self._row.id, wanted, said)
        self._talk.say_all(f"line: {inert(line)}" for line in placed.comment.snippet.split("\n"))
        self._talk.say(f"kept as {placed.comment.id}; send gives it to the agent")

    def _comments(self) -> None:
        _task, found = comments.listed(self._project, self._row.id)
        self._talk.say_all(map(reading.comment_line, found))
        if not found:
            self._talk.say("there are no comments")

    def _send(self) -> None:
        sent = comments.send_to_agent(self._project, self._row.id, (), held=HeldRuns(self._project))
        many = counted(len(sent.comments), "comment")
        if sent.run is None:
            self._talk.say(f"no agent runs that takes them; the prompt of {many}:")
            self._talk.say_all(inert(line) for line in sent.prompt.split("\n"))
        else:
            self._talk.say(f"{many} sent to {sent.run.id}: {reading.WAYS[sent.way]}")

    # Acts.

    def _plan_and_do(self, act: str) -> None:
        wish, task = ActRequest(act), TaskId(self._row.id)
        found = plan(self._project, task, wish)
        self._talk.say_all(reading.plan_lines(found))
        if found.concerns and not found.stops and not found.nothing:
            if self._talk.ask_anew(f"type {_FORCE} to go on all the same") != _FORCE:
                self._talk.say(NOTHING)
                return
            wish = wish._replace(force=True)
            found = plan(self._project, task, wish)
            self._talk.say_all(reading.plan_lines(found))
        if found.stops or found.nothing or found.concerns:
            self._talk.say(NOTHING)
            return
        if self._talk.ask_anew(f"type {act} again to do it") != act:
            self._talk.say(NOTHING)
            return
        done = carry_out(self._project, task, wish, found.digest)
        self._talk.say(f"done: {inert(done.said)}")

    def _pull_request(self) -> None:
        found = prepare(self._project, PullRequestRequest(task=self._row.id))
        self._talk.say_all(reading.pull_request_lines(found))
        if self._talk.ask_anew("type pr again to push it") != "pr":
            self._talk.say(NOTHING)
            return
        self._talk.say("working: pushing; this takes as long as the network does")
        self._talk.say(f"done: {inert(push_and_open(self._project, self._row.id, found))}")
