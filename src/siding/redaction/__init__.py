"""Secrets out of bytes: what looks like one becomes ``[redacted:kind]``, the rest stays as it is.

    prefilter   where in a block of bytes to look at all: a few fast passes over all of it
    evaluate    looks there: which rule, and where the secret begins and ends
      formats   tokens known by how they begin; values, names: what a name and a value tell
      pairs     name and value together; places: URLs, headers, hashes; keys: private key blocks
    stream      the same over chunks: holds back what more bytes could still change
    redactor    one set of rules in force: built-in, the environment's values, a project's own

Pure: bytes in, bytes out. Nothing here knows files, processes or the environment.
"""
