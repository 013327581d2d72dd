"""The HTTP face of a web, in the shapes that other people's agents know, by changing a base URL."""
