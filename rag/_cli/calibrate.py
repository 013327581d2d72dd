"""`rag calibrate`: how far measured tone, style, sound and copies hold on one's own labelled videos."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import rag
from corpora.errors import file_error
from corpora.outputs import check_output, replace_file
from rag._cli.options import argument, option
from rag._cli.session import Force, Session, given_path, with_session
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.agents.shotfinder.calibration import Calibration


@with_session()
def calibrate(
    session: Session,
    folder: Annotated[Path, argument("DIR", "Folder of labelled videos.", parser=given_path)],
    labels: Annotated[
        Path,
        option(
            "--labels FILE",
            "CSV with the columns path, start, end, color, style, audio, copy_of; what is empty is not "
            "labelled.",
            parser=given_path,
        ),
    ],
    out: Annotated[Path, option("--out FILE", "Where to write the calibration.")] = Path(
        "rag-calibration.json"
    ),
    force: Force = False,
) -> int:
    """Compare measured tone, style, sound and copies with labels of your own, and write a calibration.

    Set search.calibration to the file: ShotFinder then uses these measurements as far as they hold.
    """
    from rag._cli.progress import open_progress
    from rag.agents.shotfinder.calibration import calibrate, measure_labels, read_labels

    policy = session.overwrite_policy(force, labels)
    check_output(out, policy)
    rows = read_labels(labels, folder)
    files = sorted({os.fspath(path) for row in rows for path in (row.path, row.copy_of) if path is not None})
    with tempfile.TemporaryDirectory(prefix="rag-calibrate-") as made:
        settings = session.settings
        off = {"mode": "off"}
        settings = settings.model_copy(
            update={
                "library": Path(made) / "library",
                "ocr": settings.ocr.model_copy(update=off),
                "asr": settings.asr.model_copy(update=off),
            }
        )
        with open_progress() as progress:
            rag.Library.index(files, settings=settings, progress=progress)
        with rag.Library.open(settings.library, settings=settings) as library:
            meta = library.engine.reader.meta
            image = meta.image_encoder if meta is not None else None
            found = calibrate(measure_labels(library, rows), image.fingerprint if image is not None else "")
    if not found.tables:
        raise UsageError(f"{labels}: nothing that is labelled could be measured; no calibration was written")
    text = found.model_dump_json(indent=1, by_alias=True)
    try:
        with replace_file(out, policy) as draft:
            draft.write_text(f"{text}\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise file_error(out, error) from error
    tables = found.model_dump(mode="json")["tables"]
    session.report("rag.calibrate/1", {"out": out, "tables": tables}, _lines(found, out))
    return 0


def _lines(found: Calibration, out: Path) -> Iterator[str]:
    for kind, table in found.tables.items():
        low, high = table.interval
        right = f"{100 * table.measured_right:.1f} % right [{100 * low:.1f}, {100 * high:.1f}]"
        decided = "always unknown once calibrated"
        if table.decided_right is not None and table.decided_interval is not None:
            low, high = table.decided_interval
            decided = (
                f"calibrated: {100 * table.decided_right:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of "
                f"{table.decided} that are not unknown"
            )
        yield f"{kind}: n={table.n} of {table.videos} videos, as measured {right}; {decided}"
    yield f'written: {out}; use it with search.calibration = "{out}" in rag.toml'
