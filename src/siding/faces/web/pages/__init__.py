"""The pages: each function collects the values for one template. No HTML is made here."""
