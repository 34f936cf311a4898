"""Trust in the workflows of a repository: by content, as in its hooks.

A workflow runs agents and commands. One that comes with the repository runs only if a person has
seen just this script, and what it calls by name is held to the same.
"""

from contextlib import suppress

from siding.ground.errors import SidingError
from siding.record.place.project import Project
from siding.record.place.trust import WORKFLOWS, add, trust_json, trusted_workflows
from siding.record.recording.calling_step import refuse_inside_step
from siding.workflows.acts.scripts import FoundScript, Origin, at, listed, named
from siding.workflows.script import Script


class NotTrusted(SidingError):
    """The repository's workflow was not allowed by a person, as it is now."""

    code = "workflow_not_trusted"

    def __init__(self, found: FoundScript) -> None:
        super().__init__(
            f"the workflow {found.name!r} comes with the repository, and nobody has allowed it yet",
            hint=f"read {found.path}, then `siding trust`, or begin again with --trust",
        )
        self.found = found


def is_trusted(project: Project, found: FoundScript) -> bool:
    """Tell whether a script may run."""
    if found.origin is not Origin.REPOSITORY:
        return True
    return found.digest in trusted_workflows(trust_json(project))


def trust(project: Project, found: FoundScript) -> None:
    """Allow a script as it is. Raises InsideStep: this is a person's to do."""
    refuse_inside_step(
        project,
        "what the repository brings is a person's to allow",
        hint=f"`siding workflow run --trust {found.name}` in a terminal of your own",
    )
    add(project, WORKFLOWS, found.digest, {"name": found.name, "path": found.path})


def require_trust(project: Project, found: FoundScript) -> None:
    """Raise NotTrusted if a script may not run."""
    if not is_trusted(project, found):
        raise NotTrusted(found)


def not_trusted_in(project: Project, script: Script) -> list[FoundScript]:
    """Return the workflows that a script calls by a literal name and that may not run yet.

    One that is not found is left out: the script may make it before it calls it.
    """
    found: list[FoundScript] = []
    for child in script.children:
        with suppress(SidingError, OSError, UnicodeDecodeError):
            found.append(
                named(project, child.name)
                if child.name
                else at(project, child.path, anywhere=False)
            )
    return [each for each in found if not is_trusted(project, each)]


def require_children(project: Project, script: Script) -> None:
    """Raise NotTrusted if a script calls a workflow that may not run.

    Asked before anything begins: in the middle of a run its agents would be paid for already.
    """
    for each in not_trusted_in(project, script):
        raise NotTrusted(each)


def of_repository(project: Project) -> list[FoundScript]:
    """Return the workflows that the repository brings, by name."""
    return [found for found in listed(project) if found.origin is Origin.REPOSITORY]


class TrustedSources:
    """The scripts that a script may run, if a person has allowed them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def named(self, name: str) -> str:
        return self._trusted(named(self._project, name))

    def at(self, path: str) -> str:
        return self._trusted(at(self._project, path, anywhere=False))

    def _trusted(self, found: FoundScript) -> str:
        require_trust(self._project, found)
        return found.source
