"""Questions put to a person, their options, and the recorded answers.

`docs/formats.md` says what the bytes are: a reader of the seed's format (``pending.json`` and one
record for each answered decision) reads them. Beyond it, any number may be open at once.
"""
