"""The page to play on and to watch agents learn: its server, its data, its command."""
