"""Read the settings of a project from its ``config.yaml``, and those for all from the home's.

Parsing YAML takes longer than most commands, so an unchanged default file is recognised by its
bytes and not parsed. Other tools of this file format use some of the sections as well.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.ground.errors import UsageError
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple

CONFIG_VERSION = 1
DEFAULT_POLICY_PATH = ".siding/policy.yaml"
OWN_POLICY = "policy.yaml"  # the person's policy for all projects, in the home
ISOLATION_FILES = ("auto", "always", "never")
LEAVE = ("keep", "end")
VARIABLES = ("map", "leave", "drop")
JUDGE = ("off", "on", "require")
STEPS = ("turn", "call")

DEFAULT_TEXT = """\
# Settings of one Siding project. What they are when nothing is said is in the comments; what
# `config.yaml` of Siding's home says for all projects counts where this file says nothing.
version: 1
# git:
#   default_base: ""        # start tasks from this branch; empty: where you stand
#   branch_prefix: siding/
# policy:
#   enabled: true           # true or false; left out: once there is a policy file
#   path: .siding/policy.yaml
#   overrides: true         # whether `siding run --allow RULE` may answer what is asked
# isolation:
#   files: auto             # files of your checkout looked at after a run: auto, always, never
# hooks:                    # shell commands, run in the workspace
#   post_create: []         # after a workspace was made
#   pre_run: []             # before each run; one that fails stops the run
#   post_run: []            # after each run
#   notify: []              # when something starts to wait for you; see `siding inbox`
# snapshot:
#   max_file_size: 100MiB   # larger files are left out of snapshots, and reported
#   ignored: []             # globs of ignored files to record all the same, such as .env
# sandbox:
#   mode: on                # off, on (else a warning), require (else nothing runs)
#   network: on             # on, off, loopback
# limits:                   # of each run
#   time: 2h
#   memory: 8GiB            # also output, processes, disk
# redaction:
#   enabled: true           # secrets in output, commands and records become [redacted:kind]
#   extra: {}               # more that is secret, by kind: a regular expression for each
#   allow: []               # values to leave alone; kind:NAME for a whole kind
# output:
#   color: true
#   verbose: false
"""
# The SHA-256 of the text that new projects were given before.
_EARLIER = frozenset({"ede52b4c0d6f125ef2634999fd264cc70774fb5f90736567d682a1c59690be64"})


class RedactionSettings(NamedTuple):
    """What one file says about redaction; `enabled` is None where it says nothing."""

    enabled: bool | None = None
    extra: Mapping[str, str] = {}
    allow: tuple[str, ...] = ()

    def over(self, wider: "RedactionSettings") -> "RedactionSettings":
        """Return the settings in force if `wider` are those for all projects."""
        return RedactionSettings(
            enabled=wider.enabled if self.enabled is None else self.enabled,
            extra={**wider.extra, **self.extra},
            allow=(*wider.allow, *self.allow),
        )


class Settings(NamedTuple):
    """The settings in force; a default for each one that is not set."""

    default_base: str = ""
    branch_prefix: str = "siding/"
    trailers: bool = True  # whether commits and pull requests name their task and its steps
    post_create: tuple[str, ...] = ()
    pre_run: tuple[str, ...] = ()
    post_run: tuple[str, ...] = ()
    notify: tuple[str, ...] = ()
    max_file_size: int = 100 * 1024 * 1024  # bytes
    ignored: tuple[str, ...] = ()
    policy_enabled: bool | None = None  # None: once there is a policy file
    policy_path: str = DEFAULT_POLICY_PATH  # relative to the main checkout
    policy_overrides: bool = True
    isolation_files: str = "auto"  # auto, always or never
    redaction: RedactionSettings = RedactionSettings()
    turns_every_s: float | None = None  # record a run's workspace so often; None: never
    turns_quiet_s: float | None = None  # and after so long without output; None: never
    leave: str = "keep"  # keep or end: what a run's command leaves running when it ends
    variables: str = "map"  # one of VARIABLES: those that lead into the checkout, in a run
    agents_report: bool = True  # agents that can are told to report their turns
    agents_text: bool = True  # and what they may ask of Siding
    agents_tools: bool = True  # and get tools to ask it with, if `mcp` is installed
    agents_steps: str = "turn"  # one of STEPS: what of them is a step
    agents_judge: str = "on"  # one of JUDGE: whether their commands are judged before they run
    agents_ask: str = "auto"  # how long they wait for a person: auto, wait, deny or a time
    agents_effect: bool = True  # what a command would do is shown to who is asked about it
    agents_meter: bool = False  # their requests to models are measured on the wire
    gc_background: bool = False  # whether hosts of long runs start `siding gc`
    gc_older_s: float | None = None  # and with which age; None: without --older
    forks_pool: int = 4  # how many worktrees may wait for the next forks
    forks_warm: tuple[str, ...] = ()  # ignored directories that come along into a fork
    color: bool = True
    verbose: bool = False
    unknown: Mapping[str, str] = {}  # by file: names in it that have no meaning


def is_default(raw: bytes) -> bool:
    """Tell whether a settings file is as a new project was given it, and says nothing."""
    return raw == DEFAULT_TEXT.encode() or sha256_hex(raw) in _EARLIER


def parse_settings(path: Path, raw: bytes) -> Mapping[str, Any]:
    """Return the parsed settings file `raw`; raise UsageError if it does not parse."""
    import yaml

    try:
        document = yaml.load(raw, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise UsageError(
            f"{str(path)!r} is not valid YAML: {' '.join(str(error).split())}",
            hint="correct the file, or delete it to get the defaults back",
        ) from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise UsageError(f"{str(path)!r} should hold settings, and holds {type(document).__name__}")
    version = document.get("version", CONFIG_VERSION)
    if not isinstance(version, int) or version > CONFIG_VERSION:
        raise UsageError(
            f"{str(path)!r} has version {version!r}; this Siding knows {CONFIG_VERSION}",
            hint="use the version of Siding that wrote it, or a newer one",
        )
    return document
