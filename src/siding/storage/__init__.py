"""What is on disk: documents, journals, locks, versions, and the layout of the home.

`FORMAT.md` says what the bytes are, when they are flushed, and what is not promised.
"""
