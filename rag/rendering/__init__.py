"""Records made visible: contact sheets, terminal text and JSON shapes."""
