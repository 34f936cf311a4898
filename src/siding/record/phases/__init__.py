"""The phases of a task's process: where the task is, and the history of its moves.

`FORMAT.md` describes the files.
"""
