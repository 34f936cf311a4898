"""`siding task …`: what is to be done."""
