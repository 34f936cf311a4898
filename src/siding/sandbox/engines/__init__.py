"""The sandbox around a command: what the command may write, see and reach.

`values` has the request, `view` turns it into a list of mounts, and `bwrap`, `landlock` and
`seccomp` turn that into the arguments, rules and filter of an engine. All these are pure. `kernel`
and `start` make the system calls; `probe` tries out which engine works on this machine.
"""
