"""tar: what its arguments mean hangs on the letter that says whether it packs or unpacks."""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import ANYTHING, PrintedText
from siding.policy.names import ordered
from siding.policy.options import arguments
from siding.policy.paths import Zone

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner

_TAR_RUNS = ordered("""
    -I --use-compress-program --to-command --checkpoint-action -F --info-script --new-volume-script
    --rmt-command --rsh-command
""")


def tar(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge tar: the directory it unpacks to, the files it packs, options that run programs."""
    words = list(call.arguments)
    if words and not words[0].startswith("-"):
        words[0] = "-" + words[0]
    if words and re.fullmatch(r"-[A-Za-z]*f[A-Za-z]+", words[0]):  # xfv: the f takes the next word
        words[0] = words[0].replace("f", "") + "f"
    with_value = (
        *ordered("""
            -f --file -C --directory -T --files-from -X --exclude --exclude-from --transform
            --strip-components -b --owner --group --mode -g -V --one-top-level
        """),
        *_TAR_RUNS,
    )
    given = arguments(words, with_value)
    for name, value in given.options:
        if any(name == each or (len(name) > 5 and each.startswith(name)) for each in _TAR_RUNS):
            simple = name in ("-I", "--use-compress-program") and value in COMPRESSORS
            if not simple and not (name == "--checkpoint-action" and value in ("dot", "echo")):
                examiner.found("option-runs-program", f"{name}={value}")
                examiner.inner_text(name, (value or "").removeprefix("exec="), call.state)
    unpacks = given.has("-x", "--extract", "--get")
    packs = given.has("-c", "-r", "-u", "--create", "--append", "--update")
    for directory in given.values("-C", "--directory", "--one-top-level"):
        if unpacks:
            examiner.writes_into(directory, call.state)
        else:
            examiner.reads(directory, call.state)
    if unpacks and given.has("-P", "--absolute-names"):
        examiner.found("write-unknown", "-P")
    for archive in given.values("-f", "--file"):
        if packs:
            examiner.writes(archive, call.state)
    return _packed(examiner, call, given.operands) if packs else ANYTHING


COMPRESSORS = frozenset({"gzip", "pigz", "bzip2", "pbzip2", "xz", "pxz", "zstd", "lz4", "brotli"})


def _packed(examiner: "Examiner", call: "Call", operands: tuple[str, ...]) -> PrintedText:
    for operand in operands:
        examiner.reads(operand, call.state)
        if examiner.zone(operand, call.state) in (Zone.HOME, Zone.SYSTEM):
            examiner.found("read-secret", operand)
    return ANYTHING


JUDGES = dict.fromkeys(("tar", "bsdtar", "gtar"), tar)
