"""Where Siding's own agent keeps what is said while it is in a sandbox."""

from contextlib import suppress

from siding.agents.table import OWN
from siding.record.place.project import Project
from siding.sandbox.settings import SandboxSettings


def with_conversations(asked: SandboxSettings, project: Project, profile: str) -> SandboxSettings:
    """Return the settings of a run in which Siding's own agent keeps what is said.

    It may write to the conversations of its project, which lie in Siding's home, as the profiles
    of other agents let those write to theirs; of no other project.
    """
    if profile != OWN:
        return asked
    sessions = project.layout.root / "sessions"
    with suppress(OSError):
        sessions.mkdir(mode=0o700, exist_ok=True)
    return asked._replace(write=(*(asked.write or ()), str(sessions)))
