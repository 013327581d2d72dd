"""Rendering of records: contact sheets, terminal text and JSON."""
