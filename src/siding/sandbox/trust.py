"""Show the repository's sandbox settings that would widen a run, and trust them by their digest."""

from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.trust import SANDBOXES, add, trust_json, trusted_sandboxes
from siding.sandbox.sandbox import repository_asks
from siding.sandbox.settings import SandboxSettings, asked_in, digest, loosens, replaced


class AskedByRepository(NamedTuple):
    """The repository's sandbox settings. `lines` are those that would widen a run."""

    asked: SandboxSettings
    lines: tuple[str, ...]
    trusted: bool


def widening(project: Project) -> AskedByRepository | None:
    """Return the repository's sandbox settings if some need to be trusted by the person, else
    None."""
    theirs = repository_asks(project)
    own = replaced(asked_in(project.app.home.config_path), asked_in(project.layout.config_yaml))
    lines = loosens(own, theirs)
    if not lines:
        return None
    trusted = digest(theirs) in trusted_sandboxes(trust_json(project))
    return AskedByRepository(asked=theirs, lines=tuple(lines), trusted=trusted)


def trust_sandbox(project: Project, found: AskedByRepository) -> None:
    """Let the repository's sandbox settings count exactly as they were found."""
    add(project, SANDBOXES, digest(found.asked), {"asks": list(found.lines)})
