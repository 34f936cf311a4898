"""The sandbox around a command: what it may write, see and reach.

`values` says what is wanted, `view` turns it into a list of mounts, `bwrap`, `landlock` and
`seccomp` turn that into what an engine understands: all pure. `kernel` and `start` are the edge
that launches; `probe` finds out by executing which engine holds here.
"""
