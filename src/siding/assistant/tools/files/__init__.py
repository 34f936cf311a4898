"""The tools for files: Read, Write, Edit, MultiEdit, NotebookEdit.

`paths` holds them to the workspace, `contents` replaces files and remembers what the model has seen
of them, `changes` is what those that write have in common, `texts` keeps encodings and line ends.
"""
