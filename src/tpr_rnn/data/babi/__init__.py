"""All that is bAbI's own: its format and files, its tasks, and its tests with other names."""
