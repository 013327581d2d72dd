"""MCP: the library as tools of an agent, over HTTP in the one application and on stdio."""
