"""What the server keeps for a person: games, opponents, statistics. No HTTP."""
