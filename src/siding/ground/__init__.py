"""What a program needs that may lose nothing: files, storage, processes, git."""
