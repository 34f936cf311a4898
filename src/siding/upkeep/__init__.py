"""Find what is inconsistent in a project, and repair it (`siding doctor`)."""
