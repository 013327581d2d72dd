"""ShotFinder: a shot found in a web by its description and one constraint."""
