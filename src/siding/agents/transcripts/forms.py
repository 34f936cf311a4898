"""The forms of transcripts that are read, each named as the program that writes it."""

from enum import StrEnum


class Form(StrEnum):
    """A program whose transcripts can be read, imported and exported."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
