"""How the bundled encoder was made: outside the packages, so that it may import any room."""
