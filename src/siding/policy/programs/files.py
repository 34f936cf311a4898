"""Programs that copy, move and remove files, where the place of an argument says what it is."""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import ANY, ANYTHING, NOTHING, NUMBER, UNKNOWN, PrintedText, known
from siding.policy.names import ordered
from siding.policy.options import arguments
from siding.policy.paths import HARMLESS_DEVICES, Zone
from siding.policy.programs.meanings import judge_mode
from siding.policy.programs.plain import options

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner


def remove(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge rm."""
    given = arguments(call.arguments)
    recursive = given.has("-r", "-R", "--recursive")
    if not given.operands and given.has("--help", "--version"):
        return ANYTHING
    for operand in given.operands:
        if operand == ANY and "--" not in call.arguments and not recursive:
            # A file called -rf would be taken for options.
            examiner.deletes("./" + ANY, call.state, recursive=True)
        examiner.deletes(operand, call.state, recursive=recursive)
    for name, _ in given.options:
        if UNKNOWN in name:
            examiner.found("delete-unknown", name)
    return NOTHING


def copy(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge cp and install: they read their sources and write their target."""
    given = arguments(
        call.arguments,
        (
            "-t",
            "--target-directory",
            "-m",
            "-o",
            "-g",
            "-S",
            "--mode",
            "--owner",
            "--group",
            "--suffix",
            "-s" if call.name == "install" else "--suffix",
        ),
    )
    options(examiner, call)
    targets = given.values("-t", "--target-directory")
    sources = list(given.operands)
    if call.name == "install" and given.has("-d", "--directory"):
        targets, sources = sources, []
    elif not targets and len(sources) > 1:
        targets = [sources.pop()]
    for source in sources:
        examiner.reads(source, call.state)
        if call.name == "cp" and given.has("-s", "--symbolic-link"):
            _link_to(examiner, call, source)
    for target in targets:
        examiner.writes(target, call.state)
        if target.endswith("/") or examiner.is_workspace(target, call.state):
            _into(examiner, call, target, sources)
    if any(examiner.is_fetched(source, call.state) for source in sources):
        for target in targets:
            examiner.takes(target, call.state)
    _set_id(examiner, call, given.values("-m", "--mode"))
    return NOTHING


def _into(examiner: "Examiner", call: "Call", target: str, sources: list[str]) -> None:
    for source in sources:
        name = source.rstrip("/").rpartition("/")[2]
        if name not in ("", ".", ".."):
            examiner.writes(f"{target.rstrip('/')}/{name}", call.state)


def move(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge mv: it writes its target, and its sources are deleted from where they were."""
    given = arguments(call.arguments, ("-t", "--target-directory", "-S", "--suffix"))
    targets = given.values("-t", "--target-directory")
    sources = list(given.operands)
    if not targets and len(sources) > 1:
        targets = [sources.pop()]
    for source in sources:
        zone = examiner.zone(source, call.state, link_itself=True)
        if zone not in (Zone.INSIDE, Zone.TEMPORARY):
            examiner.deletes(source, call.state, recursive=True)
    for target in targets:
        if examiner.zone(target, call.state) is Zone.HARMLESS:
            examiner.found("delete-unknown", target)
        examiner.writes(target, call.state)
        if target.endswith("/") or examiner.is_workspace(target, call.state):
            _into(examiner, call, target, sources)
    if any(examiner.is_fetched(source, call.state) for source in sources):
        for target in targets:
            examiner.takes(target, call.state)
    return NOTHING


def link(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge ln: later paths through a link that leads outside lead outside too."""
    given = arguments(call.arguments, ("-t", "--target-directory", "-S", "--suffix"))
    targets = given.values("-t", "--target-directory")
    sources = list(given.operands)
    if not targets and len(sources) > 1:
        targets = [sources.pop()]
    if not targets:
        targets = [source.rstrip("/").rpartition("/")[2] or "." for source in sources]
    for target in targets:
        examiner.writes(target, call.state)
    for source in sources:
        directory = targets[0].rpartition("/")[0] if targets and known(targets[0]) else ""
        path = source if source.startswith("/") or not directory else f"{directory}/{source}"
        if _link_to(examiner, call, path):
            examiner.links_made(targets[0], source, call.state)
    return NOTHING


def _link_to(examiner: "Examiner", call: "Call", source: str) -> bool:
    zone = examiner.zone(source, call.state)
    if zone in (Zone.INSIDE, Zone.TEMPORARY, Zone.STEERING, Zone.HARMLESS):
        return False
    if examiner.is_workspace(source, call.state):
        return False
    examiner.found("link-outside", source)
    return True


def temporary(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge mktemp; return the name that it prints, as far as it is known."""
    given = arguments(call.arguments, ("-p", "--tmpdir", "--suffix"))
    directory = (given.values("-p", "--tmpdir") or ["/tmp"])[0]
    for each in given.operands:
        if "/" in each:
            examiner.writes(each, call.state)
    return PrintedText(text=f"{directory}/{NUMBER}\n")


def tee(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge tee and sponge."""
    for operand in arguments(call.arguments).operands:
        examiner.writes(operand, call.state)
        if call.stdin.remote:
            examiner.takes(operand, call.state)
        if call.stdin.secret and operand not in HARMLESS_DEVICES:
            examiner.found("print-secret", operand)
    return call.stdin


def dd(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge dd."""
    given = dict(word.partition("=")[::2] for word in call.arguments)
    if "of" in given:
        examiner.writes(given["of"], call.state)
        source = given.get("if", "")
        endless = source in ("/dev/zero", "/dev/urandom", "/dev/random") and "count" not in given
        if endless and examiner.zone(given["of"], call.state) is not Zone.HARMLESS:
            examiner.found("fill-disk", given["of"])
    examiner.reads(given.get("if", ""), call.state)
    return ANYTHING


def _set_id(examiner: "Examiner", call: "Call", modes: list[str]) -> None:
    for mode in modes:
        judge_mode(examiner, call, mode)


def permissions(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge chmod, chown, chgrp, chattr, setfacl."""
    words = [w for w in call.arguments if not w.startswith("--reference")]
    operands = [w for w in words if not w.startswith("-") or re.match(r"-[rwxXst]+$", w)]
    if call.name in ("setfacl", "setfattr"):
        given = arguments(words, ("-m", "-x", "-M", "-X", "-n", "-v"))
        operands = ["", *given.operands]
        if any("o::" in value or "other" in value for value in given.values("-m")):
            examiner.found("open-permissions", " ".join(given.values("-m")))
    _set_id(examiner, call, operands[:1] if call.name == "chmod" else [])
    if call.name == "setcap":
        examiner.found("open-permissions", " ".join(operands))
    for operand in operands[1:]:
        zone = examiner.zone(operand, call.state)
        if zone is Zone.UNKNOWN:
            examiner.found("write-unknown", operand)
        elif zone is Zone.REPOSITORY:
            examiner.found("write-repository", operand)
        elif zone is Zone.STATE:
            examiner.found("siding-state", operand)
        elif zone is Zone.STEERING:
            examiner.found("steer-agents", operand)
        elif not (zone in (Zone.INSIDE, Zone.TEMPORARY) or _here(examiner, call, operand)):
            examiner.found("open-permissions", operand)
    return NOTHING


def _here(examiner: "Examiner", call: "Call", operand: str) -> bool:
    return call.name in ("chmod", "chattr") and examiner.is_workspace(operand, call.state)


# -- other -------------------------------------------------------------------------------------


_RSYNC_DELETES = ordered("""
    --delete --del --delete-before --delete-during --delete-delay --delete-after --delete-excluded
    --delete-missing-args --remove-source-files
""")


def transfer(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge rsync and scp: between here and another machine, or between two places here."""
    with_value: tuple[str, ...] = ordered("""
        -e --rsh --rsync-path --exclude --include -f --filter -S -o -F -P -i -l -c -J -D --port
        --files-from --log-file --backup-dir -T --temp-dir --link-dest --compare-dest --partial-dir
        --chmod --bwlimit
    """)
    if call.name == "rsync":
        with_value = tuple(
            o for o in with_value if o not in ("-S", "-o", "-F", "-P", "-i", "-l", "-c", "-J", "-D")
        )
    given = arguments(call.arguments, with_value)
    if not given.operands:
        return ANYTHING
    for name, value in given.options:
        program = value or ""
        plain = program.partition(" ")[0] in ("ssh", "rsync") and "-o" not in program
        if name in ("-e", "--rsh", "--rsync-path", "-S", "-F", "-D") and not plain:
            examiner.found("option-runs-program", f"{name} {program}")
            examiner.inner_text(name, program, call.state)
        if name == "-o" and re.match(r"(?i)(?:proxy|local)command|proxyjump", value or ""):
            examiner.found("option-runs-program", f"-o {value}")
            examiner.inner_text("-o", (value or "").partition("=")[2], call.state)
    *sources, target = given.operands
    far = [each for each in given.operands if _far(each)]
    if far:
        examiner.found("send-data", far[0])
    for source in sources:
        examiner.reads(source, call.state)
        examiner.reads_below(source, call.state)
    if not _far(target) and sources:
        examiner.writes_into(target, call.state)
        if given.has(*_RSYNC_DELETES) and not examiner.is_workspace(target, call.state):
            examiner.deletes(target, call.state, recursive=True)
    for value in given.values("--backup-dir", "--log-file", "-T", "--temp-dir", "--partial-dir"):
        examiner.writes(value, call.state)
    return ANYTHING


def _far(operand: str) -> bool:
    if operand.startswith(("rsync://", "ssh://", "scp://")):
        return True
    head, colon, _ = operand.partition(":")
    return bool(colon) and "/" not in head


JUDGES = {
    "rm": remove,
    **dict.fromkeys(("cp", "install", "ginstall"), copy),
    "mktemp": temporary,
    **dict.fromkeys(
        ("chmod", "chown", "chgrp", "chattr", "setfacl", "setfattr", "setcap", "chcon"), permissions
    ),
    **dict.fromkeys(("tee", "sponge"), tee),
    **dict.fromkeys(("rsync", "scp"), transfer),
    "mv": move,
    "ln": link,
    "dd": dd,
}
