"""The life of a task: start, close, reopen, free; and how its workspace is made and filled."""
