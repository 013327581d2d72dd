"""Which weights exist, where they lie on this machine, how they get here, and whether they are whole."""
