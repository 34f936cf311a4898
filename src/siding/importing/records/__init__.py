"""What other task tools keep in a repository, read from bytes. Nothing here touches the disk."""
