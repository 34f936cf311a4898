"""Collect the findings of a line, and decide which rules its file accesses match."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from siding.shellguard import paths
from siding.shellguard.budget import Budget, TooMuch
from siding.shellguard.fields import ANY, FROM_A_LIST, shown, shown_words
from siding.shellguard.paths import Entry, JudgingPlace, Zone
from siding.shellguard.rules import RuleSet
from siding.shellguard.state import ShellState
from siding.shellguard.verdict import Action, CommandPart, RuleFinding

MOST_DIRECTORIES = 200  # that one verdict looks into, to see where their links lead
_LEFT_OUT = frozenset({".git", "node_modules", ".venv", "venv"})
DEEPEST = 12  # lines in lines, functions in functions
LONGEST_VIA = 100  # characters of what a command stands in
LONGEST_SHOWN = 2000  # characters of a command, or of what a rule matched

_SECRET_VARIABLE = re.compile(
    r"(?i)(?:^|_)(?:api_?key|access_?key|private_?key|secret(?:_?key)?|token|passw(?:or)?d|pwd_?hash"
    r"|passphrase|credentials?|auth|pat|dsn|cookie)(?:_(?:id|value|base64|b64|v?\d))?$"
    r"|(?i:_secret_|password|^pgpass|_token_)|(?i:^(?:aws|azure|gcp|gh|gitlab)_\w*key\w*$)"
)
_NAMES_ONLY = re.compile(r"(?i)(?:_file|_path|_dir|_sock|_url|_name|_type|_ttl|_len(?:gth)?)$")

_WRITE_RULES = {
    Zone.REPOSITORY: "write-repository",
    Zone.STEERING: "steer-agents",
    Zone.STATE: "siding-state",
    Zone.HOME: "write-outside",
    Zone.OUTSIDE: "write-outside",
    Zone.WORKSPACE: "write-outside",
    Zone.SYSTEM: "write-system",
    Zone.KERNEL: "write-system",
    Zone.DEVICE: "write-device",
    Zone.UNKNOWN: "write-unknown",
}
_DELETE_RULES = {
    **_WRITE_RULES,
    Zone.REPOSITORY: "delete-repository",
    Zone.HOME: "delete-outside",
    Zone.OUTSIDE: "delete-outside",
    Zone.WORKSPACE: "delete-workspace",
    Zone.SYSTEM: "delete-outside",
    Zone.KERNEL: "delete-outside",
    Zone.DEVICE: "delete-outside",
    Zone.HARMLESS: "delete-outside",
    Zone.UNKNOWN: "delete-unknown",
}


_WORSE = (
    Zone.HARMLESS,
    Zone.INSIDE,
    Zone.TEMPORARY,
    Zone.STEERING,
    Zone.UNKNOWN,
    Zone.REPOSITORY,
    Zone.OUTSIDE,
    Zone.HOME,
    Zone.WORKSPACE,
    Zone.KERNEL,
    Zone.STATE,
    Zone.SYSTEM,
    Zone.DEVICE,
)


class _OpenPart:
    def __init__(self, text: str, via: tuple[str, ...]) -> None:
        self.text, self.via = text, via
        self.findings: dict[RuleFinding, None] = {}  # in the order they were made


class Effects:
    """Collects findings part by part; judges call `reads`, `writes`, `deletes` and `found`."""

    def __init__(self, policy: RuleSet, place: JudgingPlace, budget: Budget) -> None:
        self.policy = policy
        self.budget = budget
        self.place = place._replace(
            resolve=_counted(place.resolve, budget), entries=_listed(place.entries, budget)
        )
        self.home = place.home
        self.inside = False  # while a command is judged that runs in a container
        self.fetched: set[str] = set()  # files this line takes from the network
        self.made: dict[str, str | None] = {}  # files this line makes: their texts, None: not known
        self._looked_into = self._followed = 0  # directories and links, by `links_below`
        self._parts: list[_OpenPart] = []
        self._open: list[_OpenPart] = []
        self._via: tuple[str, ...] = ()

    def parts(self) -> tuple[CommandPart, ...]:
        """Return the parts judged so far, in the order of the line."""
        return tuple(
            CommandPart(text=part.text, via=part.via, findings=tuple(part.findings))
            for part in self._parts
        )

    def found(self, rule: str, matched: str = "") -> None:
        """Record that the command being judged matches the built-in rule `rule`.

        Nothing is recorded when the policy switches the rule off. `matched` is the text to show.
        """
        in_force = self.policy.rule(rule)
        if in_force is None:
            return
        text = shown(matched[:LONGEST_SHOWN])
        action = in_force.action
        if self.inside and action is Action.BLOCK:
            action = Action.ASK
        finding = RuleFinding(rule=rule, action=action, matched=text, reason=in_force.reason)
        if not self._open:
            self._parts.append(_OpenPart(text, self._via))
        part = self._open[-1] if self._open else self._parts[-1]
        part.findings[finding] = None

    def noticed(self, rule: str, matched: str) -> None:
        """Record a finding of the expander; this is `expansion.Surroundings.noticed`."""
        self.found(rule, matched)

    def whole(self, text: str) -> None:
        """Close all parts and open one for the whole line; later findings belong to it."""
        self._via = ()
        self._open = [_OpenPart(text, ())]
        self._parts += self._open

    @contextmanager
    def part(self, text: str) -> Iterator[_OpenPart]:
        """Open a part for one simple command; findings inside the `with` belong to it."""
        self.budget.spend(12, "judging its commands")
        opened = _OpenPart(text, self._via)
        self._parts.append(opened)
        self._open.append(opened)
        try:
            yield opened
        finally:
            self._open.pop()

    @contextmanager
    def in_container(self, *, now: bool) -> Iterator[None]:
        """Judge a command that, with `now`, runs in a container: what it changes there is a
        question at most.
        """
        before, self.inside = self.inside, self.inside or now
        try:
            yield
        finally:
            self.inside = before

    def drop(self, part: _OpenPart) -> None:
        """Remove a part that has no findings."""
        self.budget.spend(len(self._parts) // 16, "judging its commands")
        self._parts.remove(part)

    @contextmanager
    def within(self, what: str) -> Iterator[None]:
        """Judge a command inside another one; `what` is shown, as in ``sudo`` or ``bash -c``.

        Raises TooMuch when more than DEEPEST commands are nested.
        """
        before = self._via
        self._via = (*before, what[:LONGEST_VIA])
        if len(self._via) > DEEPEST:
            raise TooMuch(f"more than {DEEPEST} commands stand inside one another")
        try:
            yield
        finally:
            self._via = before

    # -- what a program does to files ------------------------------------------------------

    def zone(self, field: str, state: ShellState, *, link_itself: bool = False) -> Zone:
        """Return the zone a path leads to; the worst one if the directory is not certain."""
        self.budget.spend(
            10 + len(field) // 32 + len(state.links) // 8 + 6 * len(state.other_cwds),
            "looking at its paths",
        )
        if any(_in_link(field, link) for link in state.links):
            return Zone.OUTSIDE
        zones = [paths.zone(field, self.place, state.cwd, link_itself=link_itself)]
        if state.cwd is not None:
            zones += (
                paths.zone(field, self.place, other, link_itself=link_itself)
                for other in state.other_cwds
            )
        return max(zones, key=_WORSE.index)

    def writes(self, field: str, state: ShellState) -> None:
        """Record the rule that creating or changing this file matches, if any."""
        rule = _WRITE_RULES.get(self.zone(field, state))
        if rule:
            self.found(rule, field)

    def deletes(self, field: str, state: ShellState, *, recursive: bool = False) -> None:
        """Record the rule that removing this file or directory matches, if any."""
        zone = self.zone(field, state, link_itself=True)
        rule = _DELETE_RULES.get(zone)
        if zone is Zone.REPOSITORY and not recursive:
            rule = "write-repository"
        if recursive and FROM_A_LIST in field and rule is None:
            rule = "delete-unknown"
        if rule:
            self.found(rule, field)
        elif zone is Zone.INSIDE and self._everything(field, state):
            self.found("delete-all", field)

    def _everything(self, field: str, state: ShellState) -> bool:
        directory, _, name = field.rstrip("/").rpartition("/")
        if name not in (ANY, ANY + ANY, ANY + "." + ANY):
            return False
        for cwd in (state.cwd, *state.other_cwds):
            here = paths.absolute(directory or ".", cwd)
            if here is not None and self.place.resolve(here) == self.place.workspace:
                return True
        return False

    def writes_into(self, directory: str, state: ShellState) -> None:
        """Judge that files are created in a directory; the workspace's root is allowed."""
        if not self.is_workspace(directory, state):
            self.writes(directory, state)

    def is_workspace(self, field: str, state: ShellState) -> bool:
        """Return whether a path is certainly the workspace itself or something in it."""
        return all(
            paths.is_under(field, self.place, cwd) for cwd in (state.cwd, *state.other_cwds)
        ) and not any(_in_link(field, link) for link in state.links)

    def is_beside(self, field: str, state: ShellState) -> bool:
        """Return whether a path lies in a directory beside the workspace, or is to be one."""
        if field.startswith("/") or self.zone(field, state) is not Zone.OUTSIDE:
            return False
        top = self.place.workspace.rpartition("/")[0]
        path = self.place.resolve(paths.absolute(field, state.cwd) or "")
        return bool(top) and paths.is_below(path, top) and "/." not in path[len(top) :]

    def is_root(self, field: str, state: ShellState) -> bool:
        """Return whether a path is, or may turn out to be, the workspace's root."""
        cwds = (state.cwd, *state.other_cwds)
        found = (paths.absolute(field, cwd) for cwd in cwds)
        return any(p is None or self.place.resolve(p) == self.place.workspace for p in found)

    def links_made(self, target: str, source: str, state: ShellState) -> None:
        """Remember a link that this line makes to a place outside the workspace.

        Paths through the link then count as outside. The link does not exist yet, so resolving the
        path on disk would not show that.
        """
        target = target.removeprefix("./").rstrip("/")
        name = source.rstrip("/").rpartition("/")[2]
        state.links.update({target, f"{target}/{name}" if target != "." else name})

    def links_below(self, directory: str, state: ShellState) -> list[str]:
        """Return the links below a directory of the workspace that lead out of it.

        One verdict looks into MOST_DIRECTORIES and follows as many links, the nearest first. It
        leaves out directories with links of tools: git's, and those of installed packages.
        """
        top = paths.absolute(directory, state.cwd)
        if top is None or not self.is_workspace(directory, state):
            return []
        waiting, found = [top.rstrip("/")], []
        for each in waiting:
            if max(self._looked_into, self._followed) >= MOST_DIRECTORIES:
                break
            self._looked_into += 1
            for name, is_link in self.place.entries(each):
                path = f"{each}/{name}"
                if not is_link and name not in _LEFT_OUT:
                    waiting.append(path)
                elif is_link and self._leads_out(path):
                    found.append(path)
        return found

    def _leads_out(self, link: str) -> bool:
        self._followed += 1
        return self._followed <= MOST_DIRECTORIES and not paths.is_below(
            self.place.resolve(link), self.place.workspace
        )

    def reads_below(self, directory: str, state: ShellState) -> None:
        """Record `read-secret` if a directory with credentials lies below `directory`."""
        self.budget.spend(12, "looking at its paths")
        if paths.holds_secrets(directory, self.place, state.cwd):
            self.found("read-secret", directory)

    def reads(self, field: str, state: ShellState) -> None:
        """Record `read-secret` if credentials are usually kept in this file."""
        self.budget.spend(8 + len(field) // 16, "looking at its paths")
        ways = (field, *paths.led_out(field, self.place, state.cwd))
        if any(paths.is_secret(each, self.place, state.cwd) for each in ways):
            self.found("read-secret", field)

    def takes(self, path: str, state: ShellState) -> None:
        """Remember that this line downloads the file or directory `path`."""
        self.fetched.add(self.place.resolve(paths.absolute(path, state.cwd) or path))

    def is_fetched(self, path: str, state: ShellState) -> bool:
        """Return whether this line downloaded the file, or a directory that holds it."""
        if not self.fetched:
            return False
        self.budget.spend(2 + len(self.fetched) // 8, "looking at its paths")
        resolved = self.place.resolve(paths.absolute(path, state.cwd) or path)
        return any(resolved == each or resolved.startswith(each + "/") for each in self.fetched)

    def makes(self, path: str, text: str | None, state: ShellState) -> None:
        """Remember that this line makes the file `path`, or adds to it; None: text not known.

        For a directory, or a file that a tool of the project makes, `text` is "".
        """
        resolved = self.place.resolve(paths.absolute(path, state.cwd) or path)
        before = self.made.get(resolved, "")
        known = text is not None and before is not None
        self.made[resolved] = f"{before}{text}" if known else None

    def made_text(self, path: str, state: ShellState) -> str | None:
        """Return the text of a file that this line made before; None when that is not known."""
        if not self.made:
            return None
        self.budget.spend(4 + len(self.made) // 8, "looking at its paths")
        resolved = self.place.resolve(paths.absolute(path, state.cwd) or path)
        if resolved in self.made:
            return None if self._holds_fetched(resolved) else self.made[resolved]
        above = (each for each in self.made if resolved.startswith(each + "/"))
        return "" if any(not self._holds_fetched(each) for each in above) else None

    def _holds_fetched(self, directory: str) -> bool:
        """Return whether something was downloaded into a directory: it may be unpacked there."""
        return any(each.startswith(directory + "/") for each in self.fetched)

    def project_rules(self, text: str, words: tuple[str, ...]) -> None:
        """Match a command against the project's own rules, as written and as expanded.

        `text` is the command as it stands in the line, `words` its fields after expansion.
        """
        if not self.policy.rules:
            return
        shapes = (text, shown_words(words))
        for rule in self.policy.rules:
            if rule.pattern is None or rule.action is Action.ALLOW:
                continue
            hit = next((found for shape in shapes if (found := rule.pattern.search(shape))), None)
            if hit:
                matched = hit.group()[:LONGEST_SHOWN]
                finding = RuleFinding(rule.name, rule.action, matched, rule.reason)
                self._open[-1].findings[finding] = None


def secret_variable(name: str) -> bool:
    """Return whether a variable of this name usually holds a credential."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)  # `dbPassword`, `npmAuthToken`
    return bool(_SECRET_VARIABLE.search(name)) and not _NAMES_ONLY.search(name)


_OF_A_SERVICE = (
    r"(?i)(?:aws|azure|gcp|stripe|github|gh|gitlab|openai|anthropic|gemini|slack|twilio|sendgrid"
    r"|datadog|sentry|heroku|cloudflare|vault|supabase|firebase|vercel|netlify|paypal|mailgun|hf)_"
)
_PART_OF_A_NAME = r"(?i)_?(?:api_?)?(?:key|secret|token|pass(?:wo?r?d?)?|pw|cred(?:ential)?)s?_?"


def seeks_secrets(pattern: str) -> bool:
    """Return whether a pattern for names of variables finds those of credentials."""
    names = (each.strip("^$=.*\\ ") for each in re.split(r"[|()/]", pattern))
    return any(
        secret_variable(name)
        or re.fullmatch(_OF_A_SERVICE, name)
        or re.fullmatch(_PART_OF_A_NAME, name)
        for name in names
    )


def odd_characters(text: str) -> str:
    """Return a description of the first control or invisible character; "" when there is none."""
    for found in _MAYBE_ODD.finditer(text):
        character = found.group()
        code = ord(character)
        if code < 0x20 or 0x7F <= code < 0xA0:
            return f"a control character (U+{code:04X})"
        if character in _INVISIBLE or not character.isprintable():
            return f"an invisible character (U+{code:04X})"
    return ""


_MAYBE_ODD = re.compile(r"[^\t\n\x20-\x7e]")
_INVISIBLE = frozenset("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0")


def _counted(resolve: Callable[[str], str], budget: Budget) -> Callable[[str], str]:
    """Wrap `resolve`, which reads the disk: count its cost and remember each answer."""
    kept: dict[str, str] = {}

    def counted(path: str) -> str:
        found = kept.get(path)
        if found is None:
            budget.spend(3 + 3 * path.count("/") + len(path) // 32, "following its paths")
            found = kept[path] = resolve(path)
        return found

    return counted


def _listed(
    entries: Callable[[str], tuple[Entry, ...]], budget: Budget
) -> Callable[[str], tuple[Entry, ...]]:
    """Wrap `entries`, which reads the disk: count its cost and remember each answer."""
    kept: dict[str, tuple[Entry, ...]] = {}

    def listed(path: str) -> tuple[Entry, ...]:
        if path not in kept:
            budget.spend(20, "looking into directories")
            kept[path] = entries(path)
            budget.spend(len(kept[path]), "looking into directories")
        return kept[path]

    return listed


def _in_link(field: str, link: str) -> bool:
    path = field.removeprefix("./")
    return path.startswith(link + "/") or path == link
