"""A server stops on request, with connections still open."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

from rag.web import VideoEntry, write_catalogue


def test_half_sent_requests_do_not_keep_it_running(tmp_path: Path) -> None:
    write_catalogue(tmp_path, [VideoEntry("a", "https://v.example/watch?v=a", "A")])
    command = [sys.executable, "-m", "rag._cli.main", "web", "serve", str(tmp_path), "--port", "0"]
    with subprocess.Popen(
        [*command, "--engine", "bm25"], stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().strip().rpartition(":")[2])
        half = b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"
        with socket.create_connection(("127.0.0.1", port)) as open_one:
            open_one.sendall(half)
            with socket.create_connection(("127.0.0.1", port)) as other:
                other.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                assert other.recv(12) == b"HTTP/1.1 200"
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(40)
            finally:
                process.kill()
    assert process.returncode != -signal.SIGKILL
