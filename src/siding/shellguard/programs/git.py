"""git: the options before its command, the repository that it acts on, the files that it writes."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from siding.shellguard.fields import (
    ANY,
    ANYTHING,
    MARKS,
    NUMBER,
    UNKNOWN,
    PrintedText,
    known,
    shown_words,
)
from siding.shellguard.names import names, ordered
from siding.shellguard.options import Arguments, arguments
from siding.shellguard.paths import Zone
from siding.shellguard.programs.builtins import change_directory
from siding.shellguard.programs.by_row import judge_row
from siding.shellguard.programs.rows import row_of

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call


# -- Settings that make git run another program ----------------------------------------------------


# Settings that name a program, or change whose program is run.
RUNS = re.compile(
    r"(?i)^(?:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|attributesfile"
    r"|alternaterefscommand|worktree|bare|repositoryformatversion|excludesfile)"
    r"|alias\..+|pager\..+|credential(?:\..+)?\.helper|diff\.external|diff\..+\.(?:command|textconv)"
    r"|difftool\..+|mergetool\..+|merge\..+\.driver|filter\..+|gpg\..*(?:program|command)|gpg\.program"
    r"|sequence\.editor|interactive\.difffilter|browser\..+|man\..+|web\.browser|help\.browser"
    r"|sendemail\..+|uploadpack\.packobjectshook|remote\..+\.(?:url|pushurl|uploadpack|receivepack|vcs|mirror|push|proxy)"
    r"|url\..+\.(?:insteadof|pushinsteadof)|include(?:if)?\..*path|init\.templatedir|submodule\..+"
    r"|protocol\..+|receive\..+|safe\.directory|http\..*proxy|http\.(?:.*\.)?sslverify|http\.cookiefile"
    r"|core\.logallrefupdates|core\.sshvariant|ssh\.variant|tar\..+\.command|trailer\..+\.(?:command|cmd)|log\.showsignature"
    r"|guitool\..+|instaweb\..+|imap\..+|extensions\..+|commit\.template|blame\.ignorerevsfile"
    r"|transfer\.fsckobjects|fsck\..+|gc\..+|advice\.x|maintenance\..+|hook\..+|lfs\..+)$"
)


def judge_setting(examiner: "Examiner", call: "Call", key: str, value: str) -> None:
    harmless = value.strip() in ("cat", "less", "true", ":", "false", "vim", "vi", "nano", "")
    pager = re.match(r"(?i)core\.(?:pager|editor)|sequence\.editor|pager\.", key)
    if not known(key) or (RUNS.match(key) and not (harmless and pager)):
        examiner.found("git-runs-programs", f"{key}={value}")
        if known(value) and " " in value:
            examiner.inner_text(f"git -c {key}", value.lstrip("!"), call.state)


# -- The commands of git that a row cannot say, as they mean two things ----------------------------


Judge = Callable[["Examiner", "Call", Arguments], None]


def judge_verb(examiner: "Examiner", call: "Call", verb: str, words: list[str]) -> PrintedText:
    """Judge a command of git by its row."""
    row = row_of("(git)")
    assert row is not None
    return judge_row(examiner, call._replace(words=("git", verb, *words)), row)


def _discards(examiner: "Examiner", call: "Call") -> None:
    examiner.found("git-discards", shown_words(call.words))


def _checkout(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.has(
        "-f",
        "--force",
        "-B",
        "--discard-changes",
        "-C",
        "--force-create",
        "--ours",
        "--theirs",
        "--merge",
        "--overwrite-ignore",
    ):
        _discards(examiner, call)
        return
    creates = given.has("-b", "-c", "--create", "--orphan", "--detach", "-d", "-t", "--track")
    if given.has("--pathspec-from-file"):
        _discards(examiner, call)
        return
    separated = "--" in call.arguments
    paths = [w for w in given.operands if w in (".", "..") or _like_path(w)]
    if separated and call.arguments[-len(given.operands) - 1 :][:1] == ("--",):
        paths = list(given.operands)  # there is no commit before the `--`
    elif separated and not creates and given.operands[:1] in (("HEAD",), ("@",)):
        after = call.arguments[call.arguments.index("--") + 1 :]
        if after == given.operands[1:] and _files(examiner, call, list(after)):
            return  # as `git restore FILE`
    if paths and len(paths) == len(given.operands) and _named(examiner, call, paths):
        return
    if not creates and (separated or paths or len(given.operands) > 1):
        _discards(examiner, call)


def _named(examiner: "Examiner", call: "Call", paths: list[str]) -> bool:
    """Return whether paths name single files, and no directory, pattern or whole tree.

    To bring back named files is ordinary work, and the snapshot before the run has them as they
    were. A directory hides how much of it goes.
    """
    return all(
        known(path)
        and not path.startswith((":", "/", "~"))
        and path.rstrip("/").rpartition("/")[2] not in ("", ".", "..")
        and not path.endswith("/")
        and not any(mark in path for mark in "*?[")
        and examiner.zone(path, call.state) is Zone.INSIDE
        and not examiner.place.exists(f"{call.state.cwd}/{path}/.")
        for path in paths
    )


def _files(examiner: "Examiner", call: "Call", paths: list[str]) -> bool:
    """Return whether paths certainly name single files, by their names or on the disk."""
    there = (
        _like_path(path) or examiner.place.exists(f"{call.state.cwd}/{path}") for path in paths
    )
    return _named(examiner, call, paths) and all(there)


def _like_path(word: str) -> bool:
    return (
        word.startswith(("./", "../", "/", ":"))
        or word.endswith("/")
        or any(mark in word for mark in MARKS if mark != UNKNOWN and mark != NUMBER)
        or bool(re.search(r"\.(?:py|js|ts|md|txt|c|h|go|rs|java|json|ya?ml|toml|sh)$", word))
    )


_SHARED = names("HEAD @ main master develop origin/main origin/master origin/develop")


def _restore(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.has("-S", "--staged") and not given.has("-W", "--worktree"):
        return
    odd = given.has("--pathspec-from-file", "-p", "--ours", "--theirs")
    odd = odd or not _SHARED.issuperset(given.values("-s", "--source"))
    if odd or not given.operands or not _named(examiner, call, list(given.operands)):
        _discards(examiner, call)


def _elsewhere(remote: str) -> bool:
    return "://" in remote or bool(re.match(r"[\w.-]+(?:@[\w.-]*)?:", remote)) or UNKNOWN in remote


_SECRET_SETTING = r"(?i)credential|extraheader|passw|token|secret|smtppass"


def _config(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.has("-e", "--edit"):
        examiner.found("git-runs-programs", "config --edit")
    operands = list(given.operands)
    if operands[:1] in (["get"], ["list"], ["set"], ["unset"], ["edit"]):
        operands.pop(0)
    reads = given.has("--get", "--get-all", "--get-regexp", "--list", "-l", "--show-origin")
    reads = reads or given.operands[:1] in (("get",), ("list",))
    named = (*operands, *(value or "" for _, value in given.options))
    if any(re.search(_SECRET_SETTING, word) for word in named):
        examiner.found("print-secret", shown_words(call.words[:6]))
    if given.has("--remove-section", "--rename-section"):
        examiner.found("git-rewrites", shown_words(call.words))
    if reads or (len(operands) < 2 and not given.has("--unset", "--unset-all", "--remove-section")):
        return
    for path in given.values("-f", "--file"):
        examiner.writes(path, call.state)
    if given.has("--global", "--system"):
        examiner.found("write-outside", shown_words(call.words))
    if operands:
        value = operands[1] if len(operands) > 1 else ""
        if RUNS.match(operands[0]) or not known(operands[0]):
            examiner.found("git-runs-programs", " ".join(operands))
            if known(value):
                examiner.inner_text("git config", value.lstrip("!"), call.state)


def _push(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    words = call.arguments[call.arguments.index("push") + 1 :]
    judge_verb(examiner, call, "push", list(words))
    lease = given.has("--force-with-lease", "--force-if-includes")
    if lease and len(given.operands) < 2:  # which branch it rewrites is not said
        examiner.found("git-rewrites", shown_words(call.words))


def _worktree(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    words = call.arguments[call.arguments.index("worktree") + 1 :]
    judge_verb(examiner, call, "worktree", list(words))
    if given.operands[:1] == ("remove",) and given.has("-f", "--force"):
        for path in given.operands[1:]:
            zone = examiner.zone(path, call.state)
            near = zone in (Zone.INSIDE, Zone.TEMPORARY, Zone.UNKNOWN)
            if not near and path.startswith("/"):
                examiner.found("git-elsewhere", path)


def _clone(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    for setting in given.values("-c", "--config"):
        key, _, value = setting.partition("=")
        judge_setting(examiner, call, key, value)
    for directory in given.values("--separate-git-dir"):
        examiner.writes(directory, call.state)
    for option in given.values("--template", "-u", "--upload-pack"):
        examiner.found("git-runs-programs", option)
    for line in filter(known, given.values("-u", "--upload-pack")):
        examiner.inner_text("git clone", line, call.state)
    if len(given.operands) > 1:
        examiner.writes(given.operands[-1], call.state)
    if given.operands and _elsewhere(given.operands[0]):
        name = given.operands[0].rstrip("/").rpartition("/")[2].removesuffix(".git")
        examiner.takes((*given.operands, name)[1], call.state)


VALUES: dict[str, tuple[str, ...]] = {
    "checkout": ("-b", "--orphan"),
    "switch": ("-c", "--create", "--orphan"),
    "clone": ordered("""
            -c --config -b --branch --depth -o --origin --template -u --reference
            --separate-git-dir -j --filter --upload-pack
        """),
    "config": ("-f", "--file", "--blob", "--type", "--default", "--get-urlmatch"),
    "restore": ("-s", "--source"),
    "push": ("-o", "--push-option", "--repo"),
}


VERBS: dict[str, Judge] = {
    "checkout": _checkout,
    "switch": _checkout,
    "restore": _restore,
    "config": _config,
    "worktree": _worktree,
    "push": _push,
    "clone": _clone,
}


# --------------------------------------------------------------------------------------------------
# git: the options before its command, the repository that it acts on, the files that it
# writes


_GLOBAL_VALUES = ordered("""
    -C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path --attr-source
    --list-cmds
""")


def git(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge one git command."""
    state = call.state.copy()
    call = call._replace(state=state)
    given = arguments(call.arguments, _GLOBAL_VALUES, stop_at_operand=True)
    for name, value in given.options:
        _global_option(examiner, call, name, value or "")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"):
        value = call.env.get(name, state.variables.get(name))
        if value:
            _global_option(examiner, call, "--git-dir", value)
    if not given.operands:
        if not given.has("--version", "--help", "-v", "-h", "--exec-path", "--man-path"):
            examiner.found("git-unknown", shown_words(call.words))
        return ANYTHING
    verb, *words = given.operands
    if not known(verb):
        examiner.found("git-unknown", verb)
        return ANYTHING
    _place(examiner, call, verb, words)
    if verb == "push":
        _hooks_off(examiner, call)
    _words(examiner, call, words, names_only=verb in _NAMING)
    judge = VERBS.get(verb)
    if judge is not None:
        judge(examiner, call, arguments(words, VALUES.get(verb, ())))
        return ANYTHING
    if verb == "ls-files":
        selects = any(not word.startswith("-") and word not in (".", "*") for word in words)
        return PrintedText(text=f"{ANY}{ANY}x\n" if selects else f"{ANY}\n")
    return judge_verb(examiner, call, verb, words)


# Variables that switch off what runs as the project's hooks: any value, or one that says so.
_HOOKS_OFF = {
    "HUSKY": ("0",),
    "LEFTHOOK": ("0", "false"),
    "OVERCOMMIT_DISABLE": ("1",),
    "HUSKY_SKIP_HOOKS": ("1", "true"),
}


def _hooks_off(examiner: "Examiner", call: "Call") -> None:
    values = {**call.state.variables, **call.env}
    for name, off in _HOOKS_OFF.items():
        if values.get(name) in off:
            examiner.found("skips-checks", f"{name}={values[name]}")
    if call.env.get("SKIP"):  # of pre-commit: its value names hooks
        examiner.found("skips-checks", f"SKIP={call.env['SKIP']}")


# Verbs that show nothing of the files that they are given.
_NAMING = names("rm mv status ls-files check-ignore restore")


def _words(
    examiner: "Examiner", call: "Call", words: list[str], *, names_only: bool = False
) -> None:
    for word in words:
        for path in (word, word.partition("=")[2], word.rpartition(":")[2]):
            if path and not names_only:
                examiner.reads(path, call.state)
        if "::" in word.partition("/")[0]:  # a transport, which is a program: `ext::sh`
            examiner.found("git-runs-programs", word)


def _global_option(examiner: "Examiner", call: "Call", name: str, value: str) -> None:
    if name == "-C":
        change_directory(examiner, call._replace(words=("cd", value)))
        call.state.other_cwds = frozenset()
    elif name == "-c":
        key, _, setting = value.partition("=")
        judge_setting(examiner, call, key, setting)
    elif name == "--config-env":
        examiner.found("git-runs-programs", f"--config-env={value}")
    elif name == "--exec-path" and value:
        examiner.found("git-runs-programs", f"--exec-path={value}")
    elif name in ("--git-dir", "--work-tree"):
        zone = examiner.zone(value, call.state)
        if not (
            zone is Zone.INSIDE
            or zone is Zone.REPOSITORY
            or examiner.is_workspace(value, call.state)
        ):
            examiner.found("git-elsewhere", value)
    elif UNKNOWN in name:
        examiner.found("git-unknown", name)


_LOOKING = names("""
    status log show diff blame grep rev-parse ls-files ls-tree cat-file describe rev-list shortlog
    for-each-ref remote branch show-ref name-rev check-ignore
""")


def _place(examiner: "Examiner", call: "Call", verb: str, words: list[str]) -> None:
    """Judge the directory git starts in: git acts on the repository it discovers around it."""
    if verb in ("clone", "init", "version", "help", "ls-remote", "config", "hash-object"):
        return
    looks = verb in _LOOKING and not [
        w for w in words if re.match(r"-[dDmMcCf]|--delete|--force|--move", w)
    ]
    if call.state.cwd is None:
        examiner.found("git-elsewhere" if not looks else "git-unknown", "in an unknown directory")
    elif not (
        looks
        or examiner.is_workspace(".", call.state)
        or examiner.zone(".", call.state) is Zone.TEMPORARY
    ):
        examiner.found("git-elsewhere", call.state.cwd)
