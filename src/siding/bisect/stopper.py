"""End a search from another thread, in the middle of a check, too."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from siding.ground.errors import SidingError
from siding.ground.process.requests import Requests


class SearchStopped(SidingError):
    """A person has ended the search. What is known of it is kept."""

    code = "bisect_stopped"


class Stopper:
    """Of one search. `stop` may be called in any thread, at any time, and more than once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_stopped = False
        self._requests: Requests | None = None  # to the check that runs

    @property
    def is_stopped(self) -> bool:
        return self._is_stopped

    def stop(self) -> None:
        """End the search, and at once everything that its check has started."""
        with self._lock:
            self._is_stopped = True
            if self._requests is not None:
                self._requests.stop(now=True)

    @contextmanager
    def checking(self) -> Iterator[Requests]:
        """Yield what a check is to be run with. Raises SearchStopped, also in place of what the
        check raises once the search was ended."""
        requests = Requests()
        with self._lock:
            self._requests = requests
        try:
            if self.is_stopped:
                raise SearchStopped("the search was ended")
            yield requests
        except SidingError as error:
            if not self.is_stopped:
                raise
            raise SearchStopped("the search was ended") from error
        finally:
            with self._lock:
                self._requests = None
            requests.over()
