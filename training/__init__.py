"""How what comes with the package was fitted: scripts outside the packages, which may import any of them."""
