"""The machine: devices, compiling, processes, files, streams and signals."""
