"""What the model is told before the conversation: instruction files, environment, git's state.

Pure. Files are read through a port (`files.ReadFile`), and the rest comes in as values.
"""
