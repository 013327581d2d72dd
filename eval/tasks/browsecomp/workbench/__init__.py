"""Questions over a web of the Workbench world: uploads planted for them, drafts, and the checks they pass."""

from __future__ import annotations
