"""What a handler is asked: the project as it is now, and the words of the address."""

from collections.abc import Mapping
from typing import NamedTuple

from siding.app.project import Project
from siding.errors import UsageError
from siding.ids import TaskId
from siding.web.site import Site


class Ask(NamedTuple):
    """One request for something to look at."""

    site: Site
    project: Project
    words: Mapping[str, str]  # of the path
    query: Mapping[str, str]

    @property
    def task_id(self) -> TaskId:
        """The task of the path; raises NotFound when there is none."""
        return self.site.task_id(self.project, self.words["task"])

    def number(self, name: str, default: int, *, most: int = 1 << 53) -> int:
        """Return a number of the query that is not negative."""
        text = self.query.get(name, "")
        if not text:
            return default
        if not text.isascii() or not text.isdigit() or int(text) > most:
            raise UsageError(f"{name} is not a number that makes sense here")
        return int(text)

    def choice(self, name: str, *choices: str) -> str:
        """Return a word of the query, the first of `choices` when it is not there."""
        word = self.query.get(name, choices[0])
        if word not in choices:
            raise UsageError(f"{name} is one of {', '.join(choices)}")
        return word
