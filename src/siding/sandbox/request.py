"""What a command line asks of the sandbox and the limits of a run."""

from siding.ground.namedtuples import NamedTuple


class SandboxRequest(NamedTuple):
    """The options of a command line. None means: use the settings. Sizes are in bytes."""

    sandbox: bool | None = None
    profile: str | None = None
    network: str | None = None
    hosts: tuple[str, ...] = ()  # entries of the list, as they were typed
    output: int | None = None
    memory: int | None = None
    processes: int | None = None
    disk: int | None = None
    read: tuple[str, ...] = ()  # directories and files as they were typed
    write: tuple[str, ...] = ()
