"""The server of one library: the page, the REST API and MCP (docs/reference/rest.md)."""
