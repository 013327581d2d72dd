"""Model weights: the catalogue, their place on this machine, download and verification."""
