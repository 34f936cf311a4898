"""The tool Read: show a file to the model, as text, picture, document or notebook."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from siding.assistant.tools.files.contents import KnownFiles, open_file
from siding.assistant.tools.files.media import MOST_IMAGE, document, image, kind_of
from siding.assistant.tools.files.notebook import shown_notebook
from siding.assistant.tools.files.paths import Opened, PathRefused, Paths, explained
from siding.assistant.tools.files.texts import Lines, Window, lines_of
from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.spec import failed, number, spec_of, text
from siding.shellguard.face import Effect

_MOST_WHOLE = 32 << 20  # bytes; of a larger file only the lines that are asked for are kept
_LOOKED_AT = 8192
USUAL_LINES = 2000


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
    return Result(lines.shown, shown=f"{lines.number} lines", details=details)
