"""What is seen of an agent while it runs: read in the thread of its run, told in the loop."""

import time
from collections.abc import Callable

from siding.agents.headless.output import last_line
from siding.agents.headless.port import Seen, Stream
from siding.record.place.redaction import Redaction
from siding.running.hosting import Began, RunEvent
from siding.workflows.agents.hop import Bell
from siding.workflows.engine.ports import Report
from siding.workflows.outcome import Used, Work

_KEPT = 4096  # bytes of standard error, for what is said of a failure


class Watching:
    """Follows one run. Everything but `report` may be called in the thread of the run."""

    def __init__(
        self,
        stream: Stream,
        redaction: Redaction,
        tell: Callable[[Report], None],
        *,
        priced: Callable[[Used], Used],
        session: str,
        fork: str,
    ) -> None:
        self._stream = stream
        self._session = session
        self._redaction = redaction
        self._tell = tell
        self._priced = priced
        self._used = Used()
        self._told = Report()
        self._moved = time.monotonic()
        self._stderr = b""
        self._work = Work(fork=fork)
        self.bell: Bell | None = None

    @property
    def seen(self) -> Seen:
        seen = self._stream.seen
        return seen if seen.session else seen._replace(session=self._session)

    @property
    def work(self) -> Work:
        """Where its work can be seen, as far as it is known."""
        return self._work._replace(session=self.seen.session)

    @property
    def last_error(self) -> str:
        """The last line on its standard error that says something."""
        return self._redaction.text(last_line(self._stderr.decode("utf-8", "replace")))

    def idle_s(self) -> float:
        """Return for how many seconds it has printed nothing."""
        return time.monotonic() - self._moved

    def observe(self, event: RunEvent) -> None:
        """Take what the run is told of."""
        self._moved = time.monotonic()
        if isinstance(event, Began):
            self._work = self._work._replace(task=event.task.id, run=event.run.id)
        elif event.is_stderr:
            self._stderr = (self._stderr + event.data)[-_KEPT:]
            return
        else:
            before = self._stream.seen
            self._stream.feed(event.data)
            if self._stream.seen is before:
                return
            self._used = self._priced(used_in(self._stream.seen))
        if self.bell is not None:
            self.bell.ring()

    def over(self) -> Seen:
        """Return all that was seen, when no more will come."""
        self._stream.end()
        return self.seen

    def report_ended(self, used: Used) -> None:
        """Tell what was used in all, of a run that was ended; called in the loop."""
        self._used = used
        self.report()

    def report(self) -> None:
        """Tell how far it is; called in the loop."""
        seen = self.seen
        now = Report(used=self._used, work=self.work, says=self._redaction.text(seen.says))
        if now != self._told:
            self._told = now
            self._tell(now)


def used_in(seen: Seen) -> Used:
    """Return what an agent says that it has used."""
    return Used(
        tokens=seen.tokens,
        input_tokens=seen.input_tokens,
        dollars=seen.dollars,
        tools=seen.tools,
        model=seen.model,
    )
