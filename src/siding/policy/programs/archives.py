"""Programs that pack, unpack and compress files."""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import ANYTHING, PrintedText
from siding.policy.names import names, ordered
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


def unzip(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge unzip, 7z and the like."""
    given = arguments(
        call.arguments, ("-d", "-x", "-P", "-o" if call.name.startswith("7") else "-d")
    )
    for directory in (*given.values("-d"), *(given.values("-o") if call.name[0] == "7" else ())):
        examiner.writes_into(directory, call.state)
    return ANYTHING


def zip_files(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge zip."""
    given = arguments(
        call.arguments, ("-TT", "--unzip-command", "-x", "-i", "-P", "-b", "-n", "-t")
    )
    for name, value in given.options:
        if name in ("-TT", "--unzip-command"):
            examiner.found("option-runs-program", f"{name} {value}")
            examiner.inner_text(name, value or "", call.state)
    for operand in given.operands[:1]:
        examiner.writes(operand, call.state)
    return _packed(examiner, call, given.operands[1:])


def compress(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge gzip, gunzip, xz and the like: they replace the files they are given."""
    given = arguments(call.arguments, ("-S", "-o", "-T", "-L", "--suffix"))
    shows = given.has("-c", "--stdout", "--to-stdout", "-t", "--test", "-l", "--list")
    for operand in given.operands:
        if shows:
            examiner.reads(operand, call.state)
        else:
            examiner.writes(operand, call.state)
    for value in given.values("-o"):
        examiner.writes(value, call.state)
    return PrintedText(remote=call.stdin.remote)


def unpack_list(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge cpio, pax, ar."""
    given = arguments(call.arguments, ("-D", "--directory", "-F", "-O", "--rsh-command"))
    for directory in given.values("-D", "--directory", "-O", "-F"):
        examiner.writes_into(directory, call.state)
    if given.has("--rsh-command"):
        examiner.found("option-runs-program", "--rsh-command")
    if given.has("-i", "--extract") and not given.has("--no-absolute-filenames", "-t"):
        examiner.found("write-unknown", call.name)
    return ANYTHING


JUDGES = {
    **dict.fromkeys(("tar", "bsdtar", "gtar"), tar),
    **dict.fromkeys(("unzip", "7z", "7za", "7zz", "unrar", "unar", "bsdunzip"), unzip),
    **dict.fromkeys(
        names("""gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 unlz4 pigz brotli lzma"""),
        compress,
    ),
    **dict.fromkeys(("cpio", "pax"), unpack_list),
    "zip": zip_files,
}
