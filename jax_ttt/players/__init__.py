"""Players: the record, by name, saved agents, players of users, search."""
