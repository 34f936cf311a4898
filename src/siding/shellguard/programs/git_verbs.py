"""The commands of git that a row cannot say, as they mean two things."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from siding.shellguard.fields import MARKS, NUMBER, UNKNOWN, PrintedText, known, shown_words
from siding.shellguard.names import names, ordered
from siding.shellguard.options import Arguments
from siding.shellguard.paths import Zone
from siding.shellguard.programs.by_row import judge_row
from siding.shellguard.programs.git_programs import RUNS, judge_setting
from siding.shellguard.programs.rows import row_of

if TYPE_CHECKING:
    from siding.shellguard.call import Call
    from siding.shellguard.examiner import Examiner


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
