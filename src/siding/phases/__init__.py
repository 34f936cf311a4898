"""Where a task stands in its process: phases, steps within them, and the history of both.

`docs/formats.md` says what the bytes are: the seed's ``flow-status.json``, one for each task.
"""
