"""The `meta` table: few rows, always written together, in one commit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rag.store.records import EncoderRef, Meta


@dataclass(frozen=True, slots=True)
class MetaRows:
    """The key-value rows of the table `meta`, parsed."""

    schema: int
    """Number of the last migration that was applied; 0 before the first."""
    meta: Meta | None = None
    dropping: str = ""
    """A table that a finished encoder switch has still to drop."""

    @classmethod
    def read(cls, rows: Iterable[Mapping[str, str]]) -> MetaRows:
        """Parse the rows; missing keys take their defaults."""
        values = {row["key"]: row["value"] for row in rows}
        schema = int(values.get("schema", 0))
        library = values.get("library")
        return cls(schema, _meta(library, schema) if library else None, values.get("dropping", ""))

    @property
    def tables(self) -> frozenset[str]:
        """The tables that a library with these rows has at every moment."""
        from rag.store.measures import MEASURED_TABLES
        from rag.store.schema import plain_schemas, text_schemas, vectors_table

        names = {*plain_schemas()} if self.schema else set()
        names |= {*MEASURED_TABLES} if self.schema >= 2 else set()
        if self.meta is not None:
            names |= {*text_schemas(self.meta.text_encoder.dim)}
            names |= {vectors_table(self.meta.image_encoder)} if self.meta.image_encoder else set()
        return frozenset(names)

    def table(self) -> Any:
        """The rows as an Arrow table."""
        import pyarrow as pa

        from rag.store.schema import plain_schemas

        values = {"schema": str(self.schema)}
        if self.meta is not None:
            values["library"] = json.dumps({k: v for k, v in asdict(self.meta).items() if k != "schema"})
        if self.dropping:
            values["dropping"] = self.dropping
        columns = {"key": list(values), "value": list(values.values())}
        return pa.table(columns, schema=plain_schemas()["meta"])


def _meta(value: str, schema: int) -> Meta:
    fields = json.loads(value)
    image = fields["image_encoder"]
    return Meta(
        image_encoder=None if image is None else EncoderRef(**image),
        text_encoder=EncoderRef(**fields["text_encoder"]),
        settings=fields["settings"],
        schema=schema,
        library_id=fields["library_id"],
    )
