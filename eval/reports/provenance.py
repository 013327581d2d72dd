"""What the runs of a section were made with: commits by system, hashes of data, what was not alike."""

from __future__ import annotations

from collections.abc import Iterator

from eval.reports.rows import Section

SHORT = 12
"""Of a commit."""
HASH = 16
"""Of a file of the data."""


def made_with(section: Section) -> Iterator[str]:
    """Sentences: each commit with the systems that were run under it, the data, and a warning."""
    systems: dict[tuple[str, ...], list[str]] = {}
    for row in section.rows:
        systems.setdefault(row.commits, []).append(row.label)
    commits = "; ".join(
        f"{_commits(commits)} ({', '.join(names)})" for commits, names in sorted(systems.items())
    )
    changed = any(commit.endswith("+") for commits in systems for commit in commits)
    yield f"Commits: {commits}.{' +: with changes.' if changed else ''}"
    if section.dataset:
        data = "; ".join(f"{name} {digest[:HASH]}" for name, digest in sorted(section.dataset.items()))
        yield f"Data: {data}."
    if section.unlike:
        yield f"Not all runs had the same {', '.join(section.unlike)}: what differs may come from that."


def _commits(commits: tuple[str, ...]) -> str:
    """Shortened, `+` kept; `no checkout` for a run from an installed package."""
    return ", ".join(_short(commit) for commit in commits) or "no checkout"


def _short(commit: str) -> str:
    return commit[:SHORT] + ("+" if commit.endswith("+") else "")
