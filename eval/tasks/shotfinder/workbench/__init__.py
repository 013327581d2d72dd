"""The drawn web of `shotfinder-workbench`: families of films that differ in one thing each."""
