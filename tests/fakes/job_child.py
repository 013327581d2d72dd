"""In place of `rag` as the child of a job: what it does is the name of the folder that it is to index.

`waits`: says how far it is, and waits for a signal; `ignores`: the same, but for SIGINT; `stuck`: the same as
`waits`, with a problem; `bad`: ends with a problem; `breaks`: ends with an error; `odd`: writes what nothing
expects; `unmatched`: finds files that fit no glob; `settings`:
prints its environment; any other: ends well.
"""

import json
import os
import signal
import sys
from typing import Any

PROBLEM = {"path": "/x/\udce9.mp4", "reason": "not a video", "action": "skipped"}


def event(name: str, **fields: Any) -> None:
    print(json.dumps({"event": name, **fields}), file=sys.stderr, flush=True)


def report(**fields: Any) -> None:
    counts = dict.fromkeys(("indexed", "unchanged", "moved", "removed"), 0)
    shape = {"files_found": 2, **counts, "problems": [], "forecast": None, **fields}
    print(json.dumps({"schema": "rag.index/1", **shape}))


def progress(done: float, stage: str) -> None:
    event("progress", share=done / 10, files_begun=1, files_total=1, file="/x/a.mp4", stage=stage)


def main() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kind = os.path.basename(sys.argv[-1])
    if "--dry-run" in sys.argv:
        report(forecast={"new_files": 2, "media_seconds": 10.0, "seconds": 4.0, "bytes": 1000})
        return
    if kind == "ignores":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if kind in ("waits", "ignores", "stuck"):
        progress(2.5, "index")
        if kind == "stuck":
            event("problem", **PROBLEM)
        print("half a line", end="", file=sys.stderr, flush=True)
        while True:
            signal.pause()
    if kind == "breaks":
        print("a warning\nrag: the library is locked by process 7", file=sys.stderr)
        sys.exit(1)
    progress(0.0, "prepare")
    progress(5.0, "index")
    if kind == "odd":
        event("step")
        event("state", state="done")
        event("created", job_id=[], time="soon")
        print(json.dumps({"schema": "another"}))
        return
    if kind == "bad":
        event("problem", **PROBLEM)
        report(indexed=1, problems=[PROBLEM])
        sys.exit(3)
    elif kind == "unmatched":
        print("rag: of 3 indexable files in the folder none matches --include *.mp5", file=sys.stderr)
        report(files_found=0, not_included=3)
        sys.exit(1)
    elif kind == "settings":
        report(indexed=2, environment={k: v for k, v in os.environ.items() if k.startswith("RAG_")})
    else:
        progress(10.0, "finish")
        report(indexed=2)


main()
