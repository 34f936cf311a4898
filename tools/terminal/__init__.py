"""The page of keys and the pictures of the terminal, made from the terminal itself."""
