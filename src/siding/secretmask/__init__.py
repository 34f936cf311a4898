"""Replace secrets in bytes by ``[redacted:kind]`` and leave everything else as it is.

    prefilter   finds the places in a block of bytes where a secret could be: a few fast passes
    evaluate    tries the rules there and finds where the secret begins and ends
      formats   tokens with a known prefix
      names     whether a name says that its value is secret
      values    whether a value looks like a secret or like a placeholder
      pairs     a name and its value together
      plain_pairs  those that need no closer look
      places    secrets in headers, cookies and webhooks
      hashes    hashes of passwords
      urls      passwords in URLs
      tables    the columns of a table whose head line names secrets
      keys      private key blocks
    stream      the same for bytes that come in pieces
    window        the bytes of it that are in sight, and how far they were returned
    credit        how much may be judged
    blocks        what becomes of bytes that have more in them
    redactor    a set of rules: the built-in ones, values of the environment, a project's own

No I/O: nothing here knows files, processes or the environment.
"""
