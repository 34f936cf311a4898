"""The sandbox around a command: what the command may write, see and reach.

`values` has the request, `view` turns it into a list of mounts. An engine has a file (`bwrap`,
`landlock`) and a row of `table`; `port` says what it has to do. `seccomp` makes the filter of
system calls, `kernel` and `start` make the calls; `probe` tries out which engine works here.
"""
