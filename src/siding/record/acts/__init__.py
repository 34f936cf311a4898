"""The skeleton that every act on a task runs through."""
