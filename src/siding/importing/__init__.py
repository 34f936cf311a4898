"""What other task tools keep in a repository, brought into the project."""
