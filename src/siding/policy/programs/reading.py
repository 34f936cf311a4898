"""Programs that show files, and whose output the rest of the line may use as names or text."""

from typing import TYPE_CHECKING

from siding.policy.effects import secret_variable
from siding.policy.fields import ANY, ANYTHING, MARKS, NUMBER, UNKNOWN, PrintedText, known
from siding.policy.names import names, ordered
from siding.policy.options import arguments
from siding.policy.programs.plain import options, paths_in

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner


def reader(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge a program that shows the files it is given."""
    name = call.name
    for word in call.arguments:
        for path in paths_in(word):
            examiner.reads(path, call.state)
        _reads_network(examiner, word)
    options(examiner, call)
    if name in _SEARCHES:
        _searched(examiner, call)
    if name in ("base64", "base32", "rev", "tr"):
        return PrintedText(remote=call.stdin.remote, secret=call.stdin.secret)
    listed = _listing(call)
    if listed is not None:
        return PrintedText(text=listed)
    if name in ("realpath", "readlink", "basename", "dirname"):
        return _of_path(call)
    if name in ("cat", "head", "tail", "more", "less", "pv", "grep", "tac", "cut", "uniq", "fold"):
        operands = arguments(call.arguments, ("-n", "-c", "-d", "-f", "-m", "-e")).operands
        remote = call.stdin.remote or any(
            examiner.is_fetched(each, call.state) for each in operands
        )
        if name == "cat" and not [each for each in operands if each != "-"]:
            return call.stdin
        return PrintedText(
            remote=remote,
            secret=call.stdin.secret,
            endless="/dev/zero" in operands or "/dev/urandom" in operands,
        )
    return PrintedText(remote=call.stdin.remote, secret=call.stdin.secret)


_SEARCHES = names("grep egrep fgrep rg ag ack ugrep pcregrep diff")
_SEARCH_VALUES = ordered("""
    -e -f -A -B -C -m -d -g -t -T --regexp --file --include --exclude --exclude-dir --glob --type
""")


def _searched(examiner: "Examiner", call: "Call") -> None:
    """Judge a search: it may read all files below a directory, or credentials on its input."""
    given = arguments(call.arguments, _SEARCH_VALUES)
    patterns = given.values("-e", "--regexp", "-f", "--file")
    paths = list(given.operands)
    if not patterns and not given.has("--files") and call.name != "diff":
        patterns, paths = paths[:1], paths[1:]
    below = given.has("-r", "-R", "--recursive", "--dereference-recursive")
    if below or call.name in ("rg", "ag", "ack"):
        for path in paths or ["."]:
            examiner.reads_below(path, call.state)
    for pattern in patterns if call.stdin.secret else ():
        if secret_variable(pattern.strip("^=")):
            examiner.found("print-secret", pattern)


def _of_path(call: "Call") -> PrintedText:
    (*_, last) = ("", *arguments(call.arguments).operands)
    if call.name == "basename":
        return PrintedText(
            text=(NUMBER if not known(last) or not last else last.rpartition("/")[2]) + "\n"
        )
    if call.name == "dirname" and known(last) and "/" in last:
        return PrintedText(text=last.rstrip("/").rpartition("/")[0] + "\n")
    if call.name == "realpath" and known(last) and last.startswith("/"):
        return PrintedText(text=last + "\n")
    return ANYTHING


def _listing(call: "Call") -> str | None:
    """Return the output of a program that lists file names, as patterns; None for any other."""
    name = call.name
    given = arguments(call.arguments)
    operands = [each for each in given.operands if UNKNOWN not in each]
    if len(operands) != len(given.operands):
        return None
    if name in ("ls", "dir", "exa", "eza") and not given.has("-R", "--recursive", "-l"):
        if given.has("-d") or (all(set(each) & set(MARKS) for each in operands) and operands):
            return "".join(each + "\n" for each in operands)
        return "".join(
            (each.rstrip("/") + "/" if len(operands) > 1 else "") + ANY + "\n"
            for each in operands or ["."]
        )
    if name in ("rg", "ag", "grep", "egrep") and given.has("-l", "--files-with-matches", "-L"):
        where = [each for each in operands[1:] if not each.startswith("-")] or ["."]
        return "".join(each.rstrip("/") + "/" + ANY + "\n" for each in where)
    if name == "rg" and given.has("--files"):
        return "".join(each.rstrip("/") + "/" + ANY + "\n" for each in operands or ["."])
    if name in ("fd", "fdfind", "locate"):
        where = operands[1:] or ["."]
        return None if name == "locate" else "".join(f"{e.rstrip('/')}/{ANY}\n" for e in where)
    return None


def _reads_network(examiner: "Examiner", word: str) -> None:
    if word.startswith(("/dev/tcp/", "/dev/udp/")):
        examiner.found("send-data", word)


JUDGES = dict.fromkeys(
    names("""
        cat head tail pv grep egrep fgrep rg ag ack ugrep pcregrep diff ls dir exa eza locate
        realpath readlink basename dirname base64 base32 rev tr
    """),
    reader,
)
