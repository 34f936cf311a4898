"""The request that a handler gets: the project as it is now, and the address's parameters."""

from collections.abc import Mapping

from siding.asking.devices.device import Device
from siding.faces.web.site import Site
from siding.ground.errors import UsageError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project


class Ask(NamedTuple):
    """One request of a browser or a program."""

    site: Site
    project: Project
    words: Mapping[str, str]  # parameters of the path
    query: Mapping[str, str]
    device: Device | None = None  # the paired device that has signed the request

    @property
    def task_id(self) -> TaskId:
        """The id of the task in the path; raises NotFound when there is no such task."""
        return self.site.task_id(self.project, self.words["task"])

    def number(self, name: str, default: int, *, most: int = 1 << 53) -> int:
        """Return a number of the query, from 0 to `most`; raise UsageError for anything else."""
        text = self.query.get(name, "")
        if not text:
            return default
        if not text.isascii() or not text.isdigit() or int(text) > most:
            raise UsageError(f"{name} must be a number from 0 to {most}")
        return int(text)

    def choice(self, name: str, *choices: str) -> str:
        """Return a word of the query; the first of `choices` when it is not given."""
        word = self.query.get(name, choices[0])
        if word not in choices:
            raise UsageError(f"{name} must be one of {', '.join(choices)}")
        return word
