"""The commands of git, one judge each, and their options that take a value."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from siding.policy.fields import MARKS, NUMBER, UNKNOWN, known, shown_words
from siding.policy.names import names, ordered
from siding.policy.options import Arguments
from siding.policy.paths import Zone
from siding.policy.programs.git_programs import RUNS, judge_setting

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner


# Commands that only look, or only add to what is recorded.
PLAIN = names(
    """
    status log show diff blame annotate grep shortlog describe rev-parse rev-list ls-files
    ls-tree ls-remote cat-file name-rev merge-base show-ref show-branch for-each-ref
    count-objects fsck var version help whatchanged cherry range-diff diff-tree diff-index
    diff-files diff-files check-ignore check-attr check-ref-format check-mailmap verify-commit
    verify-tag verify-pack get-tar-commit-id patch-id stripspace column interpret-trailers
    merge-tree merge-file mv add fetch pull merge cherry-pick revert commit-tree write-tree
    hash-object mktree mktag format-patch request-pull bundle diff-pairs bugreport rerere
    sparse-checkout init pack-refs merge-index fmt-merge-msg mailinfo mailsplit unpack-file
    update-index  stage  last-modified
    """
)


Judge = Callable[["Examiner", "Call", Arguments], None]


# -- commands that need a look ------------------------------------------------------------------


def _discards(examiner: "Examiner", call: "Call") -> None:
    examiner.found("git-discards", shown_words(call.words))


def _rewrites(examiner: "Examiner", call: "Call") -> None:
    examiner.found("git-rewrites", shown_words(call.words))


def _reset(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.has("--hard", "--merge", "--keep") or UNKNOWN in "".join(n for n, _ in given.options):
        _discards(examiner, call)


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
    separated = "--" in call.arguments
    paths = [w for w in given.operands if w in (".", "..") or _like_path(w)]
    if not creates and (separated or paths or len(given.operands) > 1):
        _discards(examiner, call)


def _like_path(word: str) -> bool:
    return (
        word.startswith(("./", "../", "/", ":"))
        or word.endswith("/")
        or any(mark in word for mark in MARKS if mark != UNKNOWN and mark != NUMBER)
        or bool(re.search(r"\.(?:py|js|ts|md|txt|c|h|go|rs|java|json|ya?ml|toml|sh)$", word))
    )


def _restore(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if not given.has("-S", "--staged") or given.has("-W", "--worktree"):
        _discards(examiner, call)


def _clean(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if not given.has("-n", "--dry-run") or given.has("-i", "--interactive"):
        _discards(examiner, call)


def _stash(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    verb = given.operands[0] if given.operands else "push"
    if verb in ("drop", "clear"):
        _discards(examiner, call)
    elif verb not in ("push", "save", "list", "show", "pop", "apply", "branch", "create", "store"):
        examiner.found("git-unknown", f"stash {verb}")


def _branch(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    forced = given.has("-D", "-M", "-C", "-f", "--force", "--edit-description")
    if forced:
        _rewrites(examiner, call)


def _tag(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.has("-d", "--delete", "-f", "--force"):
        _rewrites(examiner, call)


def _push(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.has("-n", "--dry-run"):
        return
    if given.has(
        "-f",
        "--force",
        "--force-with-lease",
        "--force-if-includes",
        "--mirror",
        "--delete",
        "-d",
        "--prune",
        "--all",
    ) or any(word.startswith(("+", ":")) or UNKNOWN in word for word in given.operands[1:]):
        _rewrites(examiner, call)
    if given.operands and _elsewhere(given.operands[0]):
        examiner.found("send-data", given.operands[0])


def _elsewhere(remote: str) -> bool:
    return "://" in remote or bool(re.match(r"[\w.-]+(?:@[\w.-]*)?:", remote)) or UNKNOWN in remote


def _remote(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    verb = given.operands[0] if given.operands else ""
    if verb in ("add", "set-url", "rename", "remove", "rm"):
        examiner.found(
            "send-data" if verb in ("add", "set-url") else "git-rewrites", shown_words(call.words)
        )


def _commit(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.has("--amend"):
        _rewrites(examiner, call)


def _rebase(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    for command in given.values("-x", "--exec"):
        examiner.found("git-runs-programs", command)
        if known(command):
            examiner.inner_text("git rebase -x", command, call.state)


def _config(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.has("-e", "--edit"):
        examiner.found("git-runs-programs", "config --edit")
    operands = list(given.operands)
    if operands[:1] in (["get"], ["list"], ["set"], ["unset"], ["edit"]):
        operands.pop(0)
    reads = given.has("--get", "--get-all", "--get-regexp", "--list", "-l", "--show-origin")
    reads = reads or given.operands[:1] in (("get",), ("list",))
    if any("credential" in word for word in operands):
        examiner.found("print-secret", " ".join(operands))
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


def _worktree(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    verb, *paths = given.operands or ("",)
    if verb == "list":
        return
    if verb in ("remove", "move", "prune"):
        _discards(examiner, call)
    elif verb not in ("add", "lock", "unlock", "repair"):
        examiner.found("git-unknown", f"worktree {verb}")
    for path in paths[:1] if verb in ("add", "remove") else paths:
        if verb == "remove" and given.has("-f", "--force"):
            zone = examiner.zone(path, call.state)
            if zone not in (Zone.INSIDE, Zone.TEMPORARY, Zone.UNKNOWN):
                examiner.found("git-elsewhere" if path.startswith("/") else "git-discards", path)
        elif verb in ("add", "move"):
            examiner.writes(path, call.state)


def _submodule(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    verb = given.operands[0] if given.operands else "status"
    if verb == "foreach":
        line = " ".join(word for word in given.operands[1:])
        examiner.found("git-runs-programs", line)
        if known(line):
            examiner.inner_text("git submodule foreach", line, call.state)
    elif verb == "deinit" or given.has("-f", "--force"):
        _discards(examiner, call)
    elif verb not in ("status", "update", "init", "summary", "sync", "add", "absorbgitdirs"):
        examiner.found("git-unknown", f"submodule {verb}")


def _bisect(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.operands[:1] == ("run",):
        at = call.arguments.index("run")
        examiner.found("git-runs-programs", shown_words(call.words))
        examiner.inner("git bisect run", call.arguments[at + 1 :], call)


def _reflog(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.operands[:1] in (("expire",), ("delete",), ("drop",)):
        _discards(examiner, call)


def _rm(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.has("-n", "--dry-run"):
        return
    if (given.has("-f", "--force") or given.has("-r")) and not given.has("--cached"):
        _discards(examiner, call)


def _clone(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    for setting in given.values("-c", "--config"):
        key, _, value = setting.partition("=")
        judge_setting(examiner, call, key, value)
    for option in given.values("--template", "-u", "--upload-pack"):
        examiner.found("git-runs-programs", option)
    if len(given.operands) > 1:
        examiner.writes(given.operands[-1], call.state)
    if given.operands and _elsewhere(given.operands[0]):
        name = given.operands[-1].rstrip("/").rpartition("/")[2].removesuffix(".git")
        examiner.takes(name, call.state)


def _init(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    for option in given.values("--template"):
        examiner.found("git-runs-programs", option)
    for path in (*given.operands, *given.values("--separate-git-dir")):
        examiner.writes_into(path, call.state)


def _apply(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.has("--unsafe-paths", "--directory"):
        examiner.found("write-outside", shown_words(call.words))


def _grep(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    for name, value in given.options:
        if name == "-O":
            examiner.found("git-runs-programs", f"-O{value or ''}")
            if value:
                examiner.inner_text("git grep -O", value, call.state)


def _difftool(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    examiner.found("git-runs-programs", shown_words(call.words))
    for command in given.values("-x", "--extcmd"):
        examiner.inner_text("git difftool -x", command, call.state)


def _fetch(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    # Pruning remote-tracking branches loses nothing, they mirror the remote; pruning tags may.
    if any(name == "-P" or name.startswith("--prune-") for name, _ in given.options):
        _rewrites(examiner, call)
    if any(word.startswith("+") for word in given.operands[1:]):
        _rewrites(examiner, call)


def _symbolic_ref(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if len(given.operands) > 1 or given.has("-d", "--delete"):
        _rewrites(examiner, call)


def _notes(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.operands[:1] in (("remove",), ("prune",)) or given.has("-f", "--force"):
        _rewrites(examiner, call)


def _lfs(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.operands[:1] not in (
        ("ls-files",),
        ("status",),
        ("env",),
        ("version",),
        ("pull",),
        ("fetch",),
        ("track",),
        ("logs",),
        ("checkout",),
    ):
        _rewrites(examiner, call)


def _credential(examiner: "Examiner", call: "Call", _given: Arguments) -> None:
    examiner.found("print-secret", shown_words(call.words))


def _always_rewrites(examiner: "Examiner", call: "Call", _given: Arguments) -> None:
    _rewrites(examiner, call)


def _always_discards(examiner: "Examiner", call: "Call", _given: Arguments) -> None:
    _discards(examiner, call)


def _always_runs(examiner: "Examiner", call: "Call", _given: Arguments) -> None:
    examiner.found("git-runs-programs", shown_words(call.words))


def _gc(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if any(name.startswith("--prune") for name, _ in given.options) or given.has("--aggressive"):
        _discards(examiner, call)


def _archive(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    if given.has("--remote"):
        examiner.found("git-runs-programs", shown_words(call.words))


VALUES: dict[str, tuple[str, ...]] = {
    "checkout": ("-b", "--orphan"),
    "switch": ("-c", "--create", "--orphan"),
    "commit": ordered("""
            -m -F -C -c -t --author --date --message --file --fixup --squash --trailer -S
        """),
    "stash": ("-m", "--message"),
    "rebase": ("-x", "--exec", "--onto", "-s", "-X", "-S"),
    "push": ("-o", "--push-option", "--repo"),
    "tag": ("-m", "-F", "-u", "--sort", "--format"),
    "clone": ordered("""
            -c --config -b --branch --depth -o --origin --template -u --reference
            --separate-git-dir -j --filter --upload-pack
        """),
    "config": ("-f", "--file", "--blob", "--type", "--default", "--get-urlmatch"),
    "worktree": ("-b", "-B", "--reason", "--expire"),
    "restore": ("-s", "--source"),
    "init": ("--template", "--separate-git-dir", "-b", "--initial-branch"),
    "branch": ("-u", "--set-upstream-to", "--sort", "--format", "--contains", "--merged"),
    "grep": ("-e", "-f", "-A", "-B", "-C", "-m", "-O", "--max-depth"),
    "difftool": ("-x", "--extcmd", "-t", "--tool"),
    "submodule": ("-b", "--reference", "--depth"),
    "apply": ("-p", "-C"),
    "clean": ("-e", "--exclude"),
}


VERBS: dict[str, Judge] = {
    "reset": _reset,
    "checkout": _checkout,
    "switch": _checkout,
    "restore": _restore,
    "clean": _clean,
    "stash": _stash,
    "branch": _branch,
    "tag": _tag,
    "push": _push,
    "remote": _remote,
    "commit": _commit,
    "rebase": _rebase,
    "config": _config,
    "worktree": _worktree,
    "submodule": _submodule,
    "bisect": _bisect,
    "reflog": _reflog,
    "rm": _rm,
    "clone": _clone,
    "init": _init,
    "apply": _apply,
    "am": _apply,
    "grep": _grep,
    "difftool": _difftool,
    "mergetool": _always_runs,
    "fetch": _fetch,
    "pull": _fetch,
    "symbolic-ref": _symbolic_ref,
    "notes": _notes,
    "lfs": _lfs,
    "credential": _credential,
    "credential-store": _credential,
    "credential-cache": _credential,
    "update-ref": _always_rewrites,
    "filter-branch": _always_rewrites,
    "replace": _always_rewrites,
    "filter-repo": _always_rewrites,
    "fast-import": _always_rewrites,
    "prune": _always_discards,
    "prune-packed": _always_discards,
    "repack": _gc,
    "gc": _gc,
    "read-tree": _always_discards,
    "checkout-index": _always_discards,
    "unpack-objects": _always_rewrites,
    "archive": _archive,
    "daemon": _always_runs,
    "instaweb": _always_runs,
    "hook": _always_runs,
    "send-email": _always_runs,
    "imap-send": _always_runs,
    "shell": _always_runs,
    "maintenance": _always_runs,
    "web--browse": _always_runs,
    "gui": _always_runs,
}
