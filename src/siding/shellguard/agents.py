"""What the policy is told of agents by whoever asks for a verdict: it has no list of its own."""

from siding.ground.namedtuples import NamedTuple


class KnownAgents(NamedTuple):
    """The agents that are known where a command is judged."""

    programs: frozenset[str]  # names of programs that are agents: what they are told is text
    obeyed: tuple[str, ...]  # files of a project that steer one of them; a directory ends with "/"
    ports: frozenset[int] = frozenset()  # at which their servers take orders from whoever asks
