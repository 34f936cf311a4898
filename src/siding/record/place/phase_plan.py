"""Find the phases of a project: in the person's settings, else in the repository's."""

from siding.ground.namedtuples import NamedTuple
from siding.record.phases.plan import PhasePlan
from siding.record.place.project import Project
from siding.record.place.settings_files import phases_in


class Configured(NamedTuple):
    """The plan in force. If it came from the repository, its gates run only if they are trusted."""

    plan: PhasePlan
    from_repository: bool


def configured(project: Project) -> Configured:
    """Return the plan in force; raise UsageError with the file and the place of a mistake."""
    ours = phases_in(project.layout.config_yaml)
    if ours is not None:
        return Configured(plan=ours, from_repository=False)
    main = project.paths.main_worktree
    if main is not None:
        theirs = phases_in(main / ".siding" / "config.yaml")
        if theirs is not None:
            return Configured(plan=theirs, from_repository=True)
    return Configured(plan=PhasePlan(), from_repository=False)
