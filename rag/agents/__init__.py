"""Agents that look, think and look again; one file or family of files each, over an open library or a web."""
