"""The library on disk: tables, the one writer, pinned readers, exact search, canonical dump."""
