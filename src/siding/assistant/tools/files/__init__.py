"""The tools for files: Read, Write, Edit, MultiEdit, NotebookEdit.

`paths` holds them to the workspace, `contents` replaces files, `known` remembers what the model has
seen, `texts` keeps encodings and line ends.
"""
