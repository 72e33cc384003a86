"""Maintainers' tools, run from the root of the repository; not in the wheel."""
