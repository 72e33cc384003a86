"""Boards, tables and runs as pictures; most need the extra `plots`."""
