"""A reasoner for tests whose roles are methods under the roles' names."""

from __future__ import annotations

from rag.errors import RoleUnknown
from rag.reasoners.protocol import ReplyT, RequestT, Role


class RoleMethods:
    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        rule = getattr(self, role.name, None)
        if rule is None:
            raise RoleUnknown(f"no rule for {role.name}")
        return rule(request)
