"""The usual ways to go back in a working directory, on the same cases as Siding's."""
