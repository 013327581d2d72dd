"""A reasoner for tests whose roles are methods under the roles' names."""

from __future__ import annotations

from rag.reasoners.protocol import ReplyT, RequestT, Role


class RoleMethods:
    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        return getattr(self, role.name)(request)
