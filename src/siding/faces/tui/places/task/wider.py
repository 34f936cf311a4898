"""Acts of the task's screen that are more than a plan: pull request, attempts, bisect, a retry."""

from siding.agents.table import talks
from siding.applying.pull_request import PreparedPullRequest
from siding.bisect.search import Verdict
from siding.bisect.stopper import SearchStopped
from siding.faces.plans.plan import ActRequest
from siding.faces.tui.acts.pull_request import push_and_open
from siding.faces.tui.acts.starting import what_runs
from siding.faces.tui.places.task.bisecting import Bisecting, Found, unfinished
from siding.faces.tui.places.task.changes import From, Since
from siding.faces.tui.places.task.sheet import Choice
from siding.faces.tui.places.task.tab import ActPage
from siding.faces.tui.places.task.terminal import (
    in_terminal,
    lines_of_pull_request,
    planned_again,
    prepared,
    run_again,
    run_apart,
)
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.styles import TEXT
from siding.faces.tui.text import inert
from siding.forks.parentage import ForkRow, fork_rows
from siding.undo.retry import PlannedRetry, send_again

_ANSWERS = {"y": Verdict.HOLDS, "n": Verdict.FAILS, "s": Verdict.SKIPPED}


class Wider:
    """These acts."""

    def __init__(self, page: ActPage) -> None:
        self._page = page
        self._bisecting: Bisecting | None = None
        self._is_asked = False

    # Doing a step again

    def retry(self, wish: ActRequest, digest: str) -> None:
        """Do a step again: its command in the terminal, or its prompt to the agent that lives."""
        opened = self._page.opened
        self._page.port.work(
            lambda: planned_again(opened, wish, digest),
            then=lambda planned: self._retry(wish, planned),
        )

    def _retry(self, wish: ActRequest, planned: PlannedRetry) -> None:
        opened = self._page.opened
        if planned.sends_to:
            self._page.port.work(
                lambda: send_again(opened.project, planned, force=wish.force), then=self._sent
            )
            return
        if not talks(planned.run.argv):
            self._page.port.say("it runs in the background")
            self._page.port.work(lambda: run_apart(opened, wish), then=self._begun)
            return
        title = f"step {planned.step.id} again"
        said = in_terminal(
            self._page.siding_app, title, lambda: run_again(opened, planned, force=wish.force)
        )
        self._page.acted(f"{said}   U takes it back")

    def _begun(self, said: str) -> None:
        """Show what prints by now; the step is there when it has ended."""
        self._page.acted(f"{what_runs(said)}   U takes it back")
        self._page.show_output("")

    def _sent(self, is_told: bool) -> None:
        self._page.acted("sent" if is_told else "sent; the agent has not begun on it yet")

    # Pull requests

    def pull_request(self) -> None:
        """Show what would be pushed, with the text."""
        opened = self._page.opened
        self._page.port.say("working out what would be pushed")
        self._page.port.work(lambda: prepared(opened), then=self._show_pull_request)

    def _show_pull_request(self, found: PreparedPullRequest) -> None:
        opened = self._page.opened
        self._page.hush()
        word = (
            "push all the same: I have seen what others run" if found.holds else "push and open it"
        )
        choices = [
            Choice([(word, "warn")], "yes"),
            *(Choice(each) for each in lines_of_pull_request(found)),
        ]

        def then(_key: str) -> None:
            said = in_terminal(
                self._page.siding_app,
                "pull request",
                lambda: push_and_open(opened.project, opened.task.id, found),
            )
            self._page.acted(said)

        self._page.choose("Pull request: enter does it, escape leaves it", choices, then)

    # Attempts

    def attempts(self) -> None:
        """Choose another attempt at the task, and show what it has otherwise."""
        opened = self._page.opened
        self._page.port.work(
            lambda: fork_rows(opened.project, parent=opened.task.id, closed=True),
            then=self._show_attempts,
        )

    def _show_attempts(self, found: list[ForkRow]) -> None:
        if not found:
            self._page.port.say("no other attempt was made from a state of this task")
            return
        choices = [
            Choice(
                [
                    (inert(each.name or each.call or each.id), TEXT),
                    (f"  {each.status}, {each.steps} steps, from {each.step or 'base'}", "dim"),
                ],
                each.id,
            )
            for each in reversed(found)
        ]
        self._page.choose(
            "Compare with", choices, lambda key: self._page.show_patch(Since(From.ATTEMPT, key))
        )

    # Bisect

    def bisect(self) -> None:
        """Ask for a check, and search; without one the person says what they see."""
        if self._bisecting is not None:
            self._page.port.say("a search is under way")
            return
        self._page.port.work(lambda: unfinished(self._page.opened), then=self._ask_check)

    def _ask_check(self, check: str) -> None:
        goes_on = "; this one goes on" if check else ""
        title = f"bisect: a command that fails since (nothing: by eye){goes_on}"
        self._page.ask_text(title, self._begin, text=check)

    def _begin(self, check: str) -> None:
        app = self._page.siding_app

        def tell(lines: list[Pieces], is_asked: bool) -> None:
            app.call_later(self._show_search, search, list(lines), is_asked)

        search = self._bisecting = Bisecting(self._page.opened, check.strip(), "", tell)

        def work() -> Found | SearchStopped:
            try:
                return search.run()
            except SearchStopped as ended:
                return ended
            finally:
                self._bisecting = None

        self._page.port.work(work, then=self._show_found)

    def _show_search(self, search: Bisecting, lines: list[Pieces], is_asked: bool) -> None:
        if self._bisecting is search and not search.is_stopped:
            self._is_asked = is_asked
            self._page.show_lines([Choice(each) for each in lines])

    def answer(self, key: str) -> None:
        """Take what a person sees in the state that is shown."""
        if self._bisecting is not None and self._is_asked:
            self._is_asked = False
            self._bisecting.say(_ANSWERS[key])

    def closed(self) -> None:
        """Take in that the sheet was closed, or the place left: a search ends."""
        self._is_asked = False
        if self._bisecting is not None:
            self._bisecting.stop()

    def _show_found(self, found: Found | SearchStopped) -> None:
        if isinstance(found, SearchStopped):
            self._page.port.say(f"{found.message}: B goes on from what is known")
            return
        choices = [Choice(each) for each in found.lines]
        if found.step:
            back = ActRequest(act="rollback", step=found.holds)
            if found.turn:
                back = ActRequest(act="rewind", step=found.turn)
            choices += [
                Choice([("its patch", TEXT)], "patch"),
                Choice([("go back to before it", TEXT)], "back"),
            ]

        def then(key: str) -> None:
            if key == "patch":
                self._page.show_patch(Since(From.OF_STEP, found.step))
            else:
                self._page.plan(back)

        self._page.choose("Bisect", choices, then)
