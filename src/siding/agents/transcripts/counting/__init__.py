"""What calls to models cost in tokens, read from what each client keeps of them."""
