"""git: the options before its command, the repository that it acts on, the files that it writes."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import ANY, ANYTHING, UNKNOWN, PrintedText, known, shown_words
from siding.shellguard.names import names, ordered
from siding.shellguard.options import arguments
from siding.shellguard.paths import Zone
from siding.shellguard.programs.builtins import change_directory
from siding.shellguard.programs.git_programs import judge_setting
from siding.shellguard.programs.git_verbs import VALUES, VERBS, judge_verb

if TYPE_CHECKING:
    from siding.shellguard.call import Call
    from siding.shellguard.examiner import Examiner


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
