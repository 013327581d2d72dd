"""Tables and figures out of run folders: Markdown, CSV and PNG, the same bytes for the same runs."""
