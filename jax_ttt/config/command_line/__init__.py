"""The flags of the settings and of the commands: help, parsing, refusals."""
