"""The tool Read: show a file to the model, as text, picture, document or notebook.

What is no text is told by its first bytes; pictures and PDFs are shown in blocks.
"""

import asyncio
import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.assistant.tools.files.contents import KnownFiles, open_file
from siding.assistant.tools.files.notebook import shown_notebook
from siding.assistant.tools.files.paths import Opened, PathRefused, Paths, explained
from siding.assistant.tools.files.texts import Lines, Window, is_binary, lines_of
from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.spec import failed, number, spec_of, text
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import Effect

MOST_IMAGE = 3_750_000  # bytes: 5 MB as Base64, which is what models take
_MOST_PDF = 20_000_000  # bytes: with the conversation it fits into a request of 32 MB
_TEXT_LIKE = {b"MZ", b"BZh", b"ID3", b"PK\x03\x04", b"wOFF", b"wOF2", b"OggS", b"fLaC"}
_MOST_WHOLE = 32 << 20  # bytes; of a larger file only the lines that are asked for are kept
_LOOKED_AT = 8192
USUAL_LINES = 2000


# -- Files that are no text ------------------------------------------------------------------------


class Kind(NamedTuple):
    """What a file is. `most`: how many bytes of it can be shown; 0 if none can."""

    name: str
    media_type: str = ""
    most: int = 0

    @property
    def is_image(self) -> bool:
        """Tell whether it can be shown as a picture."""
        return self.media_type.startswith("image/")

    @property
    def is_document(self) -> bool:
        """Tell whether it can be shown as a document."""
        return self.media_type == "application/pdf"


# By the bytes that they begin with.
_KINDS = (
    (b"\x89PNG\r\n\x1a\n", Kind("a PNG picture", "image/png", MOST_IMAGE)),
    (b"\xff\xd8\xff", Kind("a JPEG picture", "image/jpeg", MOST_IMAGE)),
    (b"GIF87a", Kind("a GIF picture", "image/gif", MOST_IMAGE)),
    (b"GIF89a", Kind("a GIF picture", "image/gif", MOST_IMAGE)),
    (b"%PDF-", Kind("a PDF document", "application/pdf", _MOST_PDF)),
    (b"\x7fELF", Kind("a program or library (ELF)")),
    (b"MZ", Kind("a program or library for Windows")),
    (b"\xcf\xfa\xed\xfe", Kind("a program or library (Mach-O)")),
    (b"\xca\xfe\xba\xbe", Kind("a Java class or a program (Mach-O)")),
    (b"PK\x03\x04", Kind("a ZIP archive, or a document or package that is one")),
    (b"\x1f\x8b", Kind("compressed by gzip")),
    (b"BZh", Kind("compressed by bzip2")),
    (b"\xfd7zXZ\0", Kind("compressed by xz")),
    (b"\x28\xb5\x2f\xfd", Kind("compressed by zstd")),
    (b"7z\xbc\xaf\x27\x1c", Kind("a 7z archive")),
    (b"SQLite format 3\0", Kind("an SQLite database")),
    (b"\0asm", Kind("a WebAssembly module")),
    (b"OggS", Kind("an Ogg sound or video")),
    (b"ID3", Kind("an MP3 sound")),
    (b"fLaC", Kind("a FLAC sound")),
    (b"II*\0", Kind("a TIFF picture, which cannot be shown")),
    (b"MM\0*", Kind("a TIFF picture, which cannot be shown")),
    (b"wOF2", Kind("a font")),
    (b"wOFF", Kind("a font")),
)


def kind_of(first: bytes) -> Kind | None:
    """Return what a file is by its first bytes; None if it is a text."""
    if first[:4] == b"RIFF" and first[8:12] == b"WEBP":
        return Kind("a WebP picture", "image/webp", MOST_IMAGE)
    for magic, kind in _KINDS:
        # A text can begin with letters, too.
        if first.startswith(magic) and (magic not in _TEXT_LIKE or is_binary(first)):
            return kind
    if not is_binary(first):
        return None
    if first[:4] == b"RIFF":
        return Kind("a sound or video (RIFF)")
    if first[4:8] == b"ftyp":
        return Kind("a video or picture (MP4, HEIC)")
    return Kind("a binary file")


def image(path: Path, data: bytes, kind: Kind) -> Result:
    """Return the result that shows a picture."""
    coded = base64.b64encode(data).decode("ascii")
    block = {
        "type": "image",
        "source": {"type": "base64", "media_type": kind.media_type, "data": coded},
    }
    file = {"filePath": str(path), "type": kind.media_type, "originalSize": len(data)}
    details = {"type": "image", "file": {**file, "base64": coded}}
    return Result((block,), shown=f"{kind.name}, {len(data):,} bytes", details=details)


def document(path: Path, data: bytes, kind: Kind) -> Result:
    """Return the result that shows a PDF."""
    coded = base64.b64encode(data).decode("ascii")
    source = {"type": "base64", "media_type": kind.media_type, "data": coded}
    blocks = (
        {"type": "text", "text": f"{path}: {kind.name}, {len(data):,} bytes."},
        {"type": "document", "source": source},
    )
    details = {
        "type": "pdf",
        "file": {"filePath": str(path), "base64": coded, "originalSize": len(data)},
    }
    return Result(blocks, shown=f"{kind.name}, {len(data):,} bytes", details=details)


# -- The tool --------------------------------------------------------------------------------------


class Read:
    """Reads files, and remembers what they held."""

    def __init__(self, paths: Paths, known: KnownFiles) -> None:
        self._paths = paths
        self._known = known
        self.spec = spec_of(
            __file__,
            "Read",
            {
                "file_path": text("the file"),
                "offset": number("the first line, from 1 (1)", minimum=0),
                "limit": number(f"how many lines ({USUAL_LINES})", minimum=1),
            },
            "file_path",
        )

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return True

    def use(self, given: Mapping[str, Any]) -> Use:
        return self._paths.use("Read", Effect.READS, given["file_path"])

    async def run(self, call: Call) -> Result:
        return await asyncio.to_thread(self._read, call.given)

    def _read(self, given: Mapping[str, Any]) -> Result:
        named = given["file_path"]
        window = Window(max(given.get("offset", 1), 1), given.get("limit", USUAL_LINES))
        try:
            with self._paths.to_read(named) as opened:
                return self._shown(opened, named, window)
        except PathRefused as refused:
            return failed(str(refused))
        except OSError as error:
            return failed(explained(error, named) + self._paths.similar(named))

    def _shown(self, opened: Opened, named: str, window: Window) -> Result:
        fd = open_file(opened, named)
        with os.fdopen(fd, "rb") as file:
            status = os.fstat(fd)
            if status.st_size > _MOST_WHOLE:
                first = file.read(_LOOKED_AT)
                if (kind := kind_of(first)) is not None:
                    return failed(_refusal(named, kind, status.st_size))
                file.seek(0)
                self._known.add(opened.real, status, None)
                return _text(opened, lines_of(file, window))
            data = file.read(_MOST_WHOLE + 1)
        kind = kind_of(data[:_LOOKED_AT])
        if kind is None:
            self._known.add(opened.real, status, data)
            if opened.real.suffix == ".ipynb" and (found := shown_notebook(opened.real, data)):
                return found
            return _text(opened, Lines.of(data, window))
        if kind.is_image and len(data) <= MOST_IMAGE:
            return image(opened.real, data, kind)
        if kind.is_document and len(data) <= kind.most:
            return document(opened.real, data, kind)
        return failed(_refusal(named, kind, len(data)))


def _refusal(named: str, kind: Any, size: int) -> str:
    if kind.most:
        return (
            f"{named} is {kind.name} of {size:,} bytes; at most {kind.most:,} can be shown. "
            "Make a smaller one of it with a program, then read that."
        )
    return (
        f"{named} is {kind.name} ({size:,} bytes), not text. Look at it with a program for such "
        "files, in Bash."
    )


def _text(opened: Opened, lines: Lines) -> Result:
    details = {
        "type": "text",
        "file": {
            "filePath": str(opened.real),
            "content": lines.content,
            "numLines": lines.number,
            "startLine": lines.first,
            "totalLines": lines.total,
        },
    }
    return Result(lines.shown, shown=counted(lines.number, "line"), details=details)
