"""The built-in rules, in sets: each has a name, an action and a reason.

A built-in rule matches by meaning: the judging code finds, say, a deletion outside the workspace
and names the rule. This table decides what happens then. A project may change a rule's action, or
switch off a rule or a whole set. A project's own rules match by regular expression.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.verdict import Action


class Rule(NamedTuple):
    """One rule: what it is called, what happens when it matches, and the reason a person reads."""

    name: str
    group: str  # the set it belongs to; "project" for a project's own
    action: Action
    reason: str
    pattern: re.Pattern[str] | None = None  # None: built in, matched by meaning


def _group(group: str, *rules: tuple[str, str, str]) -> Iterable[Rule]:
    for name, action, reason in rules:
        yield Rule(name=name, group=group, action=Action(action), reason=reason)


_ALL: tuple[Rule, ...] = (
    *_group(
        "files",
        ("delete-outside", "block", "deletes something outside the workspace"),
        ("delete-workspace", "block", "deletes the workspace itself, or what holds it"),
        ("delete-repository", "block", "deletes git's own files"),
        ("delete-all", "ask", "deletes everything in the workspace"),
        ("delete-unknown", "ask", "what it deletes is known only when it runs"),
        ("write-outside", "ask", "changes something outside the workspace"),
        ("write-system", "block", "changes the system's files"),
        ("write-repository", "ask", "changes git's own files"),
        ("write-unknown", "ask", "what it changes is known only when it runs"),
        ("link-outside", "ask", "makes a link to a place outside the workspace"),
    ),
    *_group(
        "disk",
        ("write-device", "block", "writes to a disk or another device"),
        ("format-disk", "block", "formats, partitions or wipes a disk"),
        ("fill-disk", "block", "writes without end"),
    ),
    *_group(
        "system",
        ("stop-system", "block", "stops or restarts the machine or a service"),
        ("change-system", "block", "changes how the machine is set up"),
        ("kill-all", "block", "ends processes that are not its own"),
        ("fork-bomb", "block", "starts copies of itself without end"),
        ("open-permissions", "block", "gives rights on files away"),
        ("schedule", "ask", "makes something run later, or at every start"),
    ),
    *_group(
        "git",
        ("git-discards", "ask", "git throws away work that may exist nowhere else"),
        ("git-rewrites", "ask", "git changes or removes what is recorded or shared already"),
        ("git-elsewhere", "block", "git changes a repository outside the workspace"),
        ("git-runs-programs", "ask", "git is told to run another program"),
        ("skips-checks", "ask", "switches off the project's own checks"),
        ("git-unknown", "ask", "a git command that is not known"),
    ),
    *_group(
        "privilege",
        ("become-root", "block", "runs with another user's rights"),
        ("leave-container", "block", "gives a container the machine's files or rights"),
    ),
    *_group(
        "exfiltration",
        ("read-secret", "ask", "reads a file where credentials are kept"),
        ("print-secret", "ask", "shows a credential"),
        ("cloud-metadata", "ask", "asks the cloud for this machine's own credentials"),
        ("send-data", "ask", "sends data to another machine"),
        ("serve-files", "ask", "lets other machines in"),
    ),
    *_group(
        "code",
        ("remote-code", "ask", "runs what comes from the network"),
        ("install-elsewhere", "ask", "installs or runs a package from an unusual place"),
        ("code-from-input", "ask", "runs commands that are known only when it runs"),
        ("code-unclear", "ask", "runs program text that does more than is understood"),
        ("option-runs-program", "ask", "an option runs another program"),
        ("loads-code", "ask", "a variable makes programs load or run something else"),
        ("load-object", "block", "makes the shell load an object as code"),
        ("run-outside", "ask", "runs something that lies outside the workspace"),
        ("dangerous-argument", "ask", "an argument is itself a dangerous command"),
    ),
    *_group(
        "remote",
        ("change-remote", "ask", "changes something on another machine or service"),
        ("destroy-data", "ask", "deletes data of a database, a container or a service"),
        ("publish", "ask", "publishes something"),
        ("flood", "ask", "asks another machine for something without end"),
    ),
    *_group(
        "house",
        ("steer-agents", "ask", "changes what tells agents and tools what they may do"),
        ("unguarded-agent", "ask", "starts an agent whose own guards are off"),
        ("siding-state", "block", "changes Siding's own records"),
        ("siding-itself", "ask", "acts on Siding, or on the process that runs it"),
        ("local-server", "ask", "gives orders to a server of this machine"),
    ),
    *_group(
        "unclear",
        ("not-whole", "ask", "not a whole, well-formed command line"),
        ("odd-characters", "ask", "holds characters that hide or change what is seen"),
        ("dynamic-command", "ask", "which program it runs is known only when it runs"),
        ("dynamic-value", "ask", "a value is itself read as commands"),
        ("unknown-program", "ask", "a program the policy does not know"),
        ("unknown-tool", "ask", "a tool of the agent that the policy does not know"),
        ("too-much", "ask", "too long, too nested or too much work to judge"),
    ),
)

BUILT_IN: Mapping[str, Rule] = {rule.name: rule for rule in _ALL}
GROUPS: tuple[str, ...] = tuple(dict.fromkeys(rule.group for rule in _ALL))

POLICY_BROKEN = Rule(
    name="policy-broken", group="policy", action=Action.BLOCK, reason="the policy does not parse"
)


class RuleSet(NamedTuple):
    """The rules that a command is judged by; the built-in ones alone, if nothing is given."""

    rules: tuple[Rule, ...] = ()  # the project's own
    actions: Mapping[str, Action] = {}  # built-in rules with another action
    off: frozenset[str] = frozenset()  # names of rules, or of whole sets
    # Programs that are known as well: their rows, as they are written (see `programs.rows`).
    programs: Mapping[str, Any] = {}
    writable: tuple[str, ...] = ()  # directories outside the workspace that may be changed
    examples: tuple[tuple[str, Action], ...] = ()
    broken: str = ""  # why the file does not parse; every command is blocked then
    loosens: tuple[str, ...] = ()  # its settings that allow more than the built-in rules do

    def rule(self, name: str) -> Rule | None:
        """Return a built-in rule with the action in force; None when it is switched off."""
        rule = BUILT_IN[name]
        if name in self.off or rule.group in self.off:
            return None
        action = self.actions.get(name)
        return rule if action is None else rule._replace(action=action)

    def in_force(self) -> tuple[Rule, ...]:
        """Return every rule in force, the project's own first."""
        built_in = (self.rule(name) for name in BUILT_IN)
        return (*self.rules, *(rule for rule in built_in if rule is not None))
