"""Settings as files of a library: how they are written, read back and stored once they are proven."""
