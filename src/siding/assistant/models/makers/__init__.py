"""How the library's models are made, a module for each library of a provider."""
