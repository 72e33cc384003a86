"""An agent of a run against every opponent, and what beats it."""
