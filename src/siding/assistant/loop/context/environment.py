"""Where the agent works, as the model is told."""

from pathlib import Path

from siding.ground.namedtuples import NamedTuple


class Environment(NamedTuple):
    """What there is around the agent. `day` is ISO 8601: the hour would change the prompt."""

    workspace: Path
    directory: Path
    platform: str
    day: str
    model: str
    shell: str = ""
    extra: tuple[Path, ...] = ()
    is_repository: bool = False


def lines_of(environment: Environment) -> list[str]:
    """Return the environment as lines ``name: value``."""
    lines = [f"Workspace: {environment.workspace}"]
    if environment.directory != environment.workspace:
        lines.append(f"Directory that the person stands in: {environment.directory}")
    if environment.extra:
        lines.append(f"Further directories: {', '.join(map(str, environment.extra))}")
    lines.append(f"In a git repository: {'yes' if environment.is_repository else 'no'}")
    lines.append(f"Platform: {environment.platform}")
    if environment.shell:
        lines.append(f"Shell: {environment.shell}")
    return [*lines, f"Model: {environment.model}", f"Date: {environment.day}"]
