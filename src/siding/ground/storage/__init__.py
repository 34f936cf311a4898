"""Read and write files of Siding's home: documents, journals, locks, and where each of them is.

`FORMAT.md` describes the bytes, when they are flushed, and what is not promised.
"""
