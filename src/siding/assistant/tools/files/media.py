"""Files that are no text: what they are, and the blocks that show pictures and PDFs to a model."""

import base64
from pathlib import Path

from siding.assistant.tools.files.texts import is_binary
from siding.assistant.tools.port import Result
from siding.ground.namedtuples import NamedTuple

MOST_IMAGE = 3_750_000  # bytes: 5 MB as Base64, which is what models take
_MOST_PDF = 20_000_000  # bytes: with the conversation it fits into a request of 32 MB


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
_TEXT_LIKE = {b"MZ", b"BZh", b"ID3", b"PK\x03\x04", b"wOFF", b"wOF2", b"OggS", b"fLaC"}


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
