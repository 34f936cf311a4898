"""The few file operations everything else is built from, in git directories as in our own.

- `regular`: files are opened and read. Only regular ones, and no final symbolic link is followed:
  a pipe or a link to a device that stands in a file's place is an error, never a hang.
- `durable`: files are written, replaced, moved and removed. A function that changes something
  returns when the change would survive a power cut, unless it says otherwise: the bytes are
  flushed, and so is every directory in which a name changed. On an error the old state stays and
  nothing of ours is left lying about.
- `stale`: what a killed writer left is found and removed.

`storage/FORMAT.md` has the reasons.
"""
