"""ShotFinder: a shot out of a web, by its description and one constraint; published rows and a drawn web."""
