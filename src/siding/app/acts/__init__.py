"""The one skeleton of every act on a task."""
