"""The colours of a whole file, packed: six bytes for a span, and where each line begins."""

from array import array

from siding.faces.tui.text import Span

# A span's third number counts here; these are names in `rows/styles.py`.
KINDS = (
    "c-comment",
    "c-keyword",
    "c-string",
    "c-number",
    "c-function",
    "c-decorator",
    "c-builtin",
)
WIDEST = 0xFFFF  # the character of a line up to which it is coloured


class FileColours:
    """The spans of each line of a file. Line 1 is the first."""

    def __init__(self, firsts: "array[int]", numbers: "array[int]") -> None:
        self._firsts = firsts  # of each line the number of its first span, and the end
        self._numbers = numbers  # start, end, kind; start, end, kind; …

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return 4 * len(self._firsts) + 2 * len(self._numbers)

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return len(self._firsts) - 1

    def line(self, number: int) -> list[Span]:
        """Return the spans of a line; none for a line that is not there."""
        if not 1 <= number <= self.lines:
            return []
        numbers = self._numbers[3 * self._firsts[number - 1] : 3 * self._firsts[number]]
        return [
            Span(numbers[at], numbers[at + 1], KINDS[numbers[at + 2]])
            for at in range(0, len(numbers), 3)
        ]

    def as_bytes(self) -> tuple[bytes, bytes]:
        """Return both tables, to be sent."""
        return self._firsts.tobytes(), self._numbers.tobytes()

    @classmethod
    def from_bytes(cls, firsts: bytes, numbers: bytes) -> "FileColours":
        """Return what `as_bytes` gave. Raises ValueError if it is something else."""
        found = cls(array("I"), array("H"))
        found._firsts.frombytes(firsts)
        found._numbers.frombytes(numbers)
        if not found._firsts or 3 * found._firsts[-1] != len(found._numbers):
            raise ValueError("these are no colours of a file")
        return found


class Packer:
    """Takes the spans of a file in their order, line by line."""

    def __init__(self) -> None:
        self._firsts = array("I", [0])
        self._numbers = array("H")

    def add(self, start: int, end: int, kind: int) -> None:
        """Add a span to the present line. One beside the last and of its kind makes it longer."""
        end = min(end, WIDEST)
        if start >= end:
            return
        numbers = self._numbers
        is_same_line = len(numbers) > 3 * self._firsts[-1]
        if is_same_line and numbers[-2] == start and numbers[-1] == kind:
            numbers[-2] = end
        else:
            numbers.extend((start, end, kind))

    def end_line(self) -> None:
        """Go to the next line."""
        self._firsts.append(len(self._numbers) // 3)

    def done(self) -> FileColours:
        """Return the colours; the last line is ended."""
        self.end_line()
        return FileColours(self._firsts, self._numbers)
