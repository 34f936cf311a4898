"""The modes of entries in git's trees, as octal text."""

NOTHING = "000000"  # no entry, as git writes it in a raw diff
REGULAR = "100644"
EXECUTABLE = "100755"
SYMLINK = "120000"
GITLINK = "160000"  # a repository of its own
