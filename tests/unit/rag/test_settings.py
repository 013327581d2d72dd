"""Settings and systems: refused values, a system without POSIX, and no address but this machine's."""

import math
import os
import re
import socket
from pathlib import Path

import pytest

from corpora import platforms
from rag.errors import RagError, SettingsError
from rag.listening import authority, bind_listener, is_loopback
from rag.settings import Settings, load_settings, resolved_settings
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.store_material import fill

FLOATS = [
    f"{section}.{name}"
    for section, field in Settings.model_fields.items()
    for name, inner in getattr(field.annotation, "model_fields", {}).items()
    if inner.annotation is float
]


@pytest.mark.parametrize("name", FLOATS)
def test_only_finite_numbers_are_taken(name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=f"setting {name}: "):
        load_settings(flags={name: math.nan})
    monkeypatch.setenv(f"RAG_{name.replace('.', '__').upper()}", "nan")
    with pytest.raises(SettingsError, match=f"setting {name}: "):
        load_settings()


@pytest.mark.parametrize("words", ["[video", "\udcff"])
def test_a_file_that_is_no_toml_is_named(tmp_path, words: str) -> None:
    path = tmp_path / "odd.toml"
    path.write_bytes(words.encode(errors="surrogateescape"))
    with pytest.raises(SettingsError, match=r"odd\.toml: not valid TOML: "):
        load_settings(path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("[serch]\ntop_k = 1", r"serch: no such setting; did you mean search\?"),
        ("[search]\ntop-k = 1", r"search\.top-k: no such setting; did you mean search\.top_k\?"),
        ("top_k = 1", r"top_k: no such setting; did you mean search\.top_k\?"),
        ("[video]\nfps = 1", r"video\.fps: no such setting; see docs"),
        ('[scan]\nexclude = "drafts/*"', r"scan\.exclude: it is a list, as"),
        ("search = 3", "search: it is a section, not a value"),
    ],
)
def test_what_was_meant_is_said(tmp_path, words: str, message: str) -> None:
    path = tmp_path / "rag.toml"
    path.write_text(words)
    with pytest.raises(SettingsError, match=message):
        load_settings(path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("library = 5", 'library: it is a path, as "folder/name"; see'),
        ("[scan]\nexclude = [5]", "scan.exclude.0: Input should be a valid string; see"),
        ('[storage]\nendpoint = "localhost:9000"', "storage.endpoint: 'localhost:9000' is no address"),
    ],
)
def test_a_wrong_value_is_named_by_its_setting_alone(tmp_path, words: str, message: str) -> None:
    path = tmp_path / "rag.toml"
    path.write_text(words)
    with pytest.raises(SettingsError, match=rf"^{path}: setting {re.escape(message)}") as refused:
        load_settings(path)
    assert "pathlib" not in str(refused.value)


def test_the_source_of_a_wrong_value_is_named(tmp_path, monkeypatch) -> None:
    path = tmp_path / "rag.toml"
    path.write_text("[search]\ntop_k = 0\n")
    with pytest.raises(SettingsError, match=rf"^{path}: setting search\.top_k: "):
        load_settings(path)
    monkeypatch.setenv("RAG_SEARCH", '{"top_k": 0}')
    with pytest.raises(SettingsError, match=r"^environment variable RAG_SEARCH: setting search\.top_k: "):
        load_settings(path)
    monkeypatch.setenv("RAG_SEARCH__TOP_K", "x")
    with pytest.raises(SettingsError, match=r"^environment variable RAG_SEARCH__TOP_K: setting search\."):
        load_settings(path)
    with pytest.raises(SettingsError, match=r"^setting search\.top_k: "):
        load_settings(path, {"search.top_k": -1})
    monkeypatch.setenv("RAG_SEARCH", '{"top_k": ')
    with pytest.raises(SettingsError, match=r"^environment variable RAG_SEARCH: it is no JSON, as lists "):
        load_settings(path)
    monkeypatch.delenv("RAG_SEARCH")
    monkeypatch.setenv("RAG_SCAN__SHARD", "1/2")
    monkeypatch.setenv("RAG_SCAN__EXCLUDE", "drafts/*")
    with pytest.raises(SettingsError, match=r"^environment variable RAG_SCAN__EXCLUDE: it is no JSON"):
        load_settings()


def test_what_sets_a_setting_is_named_and_secrets_are_masked(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    secret = "k3y-of-mine"
    Path("rag.toml").write_text(
        f'[search]\ntop_k = 8\nexact_rows = 9\n[reasoner]\nbase_url = "http://me:{secret}@host/v1?key={secret}"\n'
        f'[reasoner.judge]\napi_key = "{secret}"\nbase_url = "http://host/v1#{secret}"\n'
        f'[scan]\nsubtitles = ["s3://me:{secret}@bucket/subtitles"]\n'
    )
    monkeypatch.setenv("RAG_SEARCH__EXACT_ROWS", "7")
    monkeypatch.setenv("RAG_REASONER", f'{{"api_key": "{secret}"}}')
    found = {each.name: each for each in resolved_settings(load_settings(flags={"seed": 3}))}
    assert {name: (found[name].value, found[name].source) for name in ("seed", "search.top_k")} == {
        "seed": (3, "flag"),
        "search.top_k": (8, "rag.toml"),
    }
    rows = found["search.exact_rows"]
    assert (rows.value, rows.source) == (7, "RAG_SEARCH__EXACT_ROWS")
    assert (found["video.rate"].value, found["video.rate"].source) == (2.0, "default")
    assert (found["reasoner.api_key"].value, found["reasoner.api_key"].source) == ("*" * 10, "RAG_REASONER")
    assert found["reasoner.base_url"].value == f"http://{'*' * 10}host/v1?{'*' * 10}"
    assert found["scan.subtitles"].value == [f"s3://{'*' * 10}bucket/subtitles"]
    assert secret not in repr(found)
    assert "search" not in found


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RAG_LIBRARY", "~/lib")
    assert load_settings().library == tmp_path / "lib"


def test_a_library_is_written_and_read_without_locks_that_can_be_shared(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(platforms, "fcntl", None)
    monkeypatch.setattr(platforms, "SHARES_LOCKS", False)
    fill(tmp_path / "lib", videos=(1,), sources=(1,))
    with Reader.open(tmp_path / "lib") as reader, Writer.open(tmp_path / "lib") as writer:
        assert platforms.is_marked(tmp_path / "lib" / "readers.lock")
        writer.maintain()
        assert len(reader.videos()) == 1


def test_what_is_done_instead_gives_the_same(monkeypatch) -> None:
    """A pipe without `readv`."""
    read, write = os.pipe()
    for _ in range(2):
        os.write(write, b"abc")
        assert platforms.readable(read, 1.0)
        data = memoryview(bytearray(8))
        assert (platforms.read_into(read, data), bytes(data[:3])) == (3, b"abc")
        assert not platforms.readable(read, 0.0)
        monkeypatch.delattr(os, "readv", raising=False)
    os.close(write)
    assert platforms.readable(read, 0.0)
    os.close(read)


def test_an_outside_address_is_refused() -> None:
    with socket.socket() as client, pytest.raises(AssertionError, match="connection to"):
        client.connect(("192.0.2.1", 9))


def test_an_outside_name_is_not_looked_up() -> None:
    with pytest.raises(AssertionError, match="name look-up"):
        socket.getaddrinfo("example.org", 80)


def test_a_taken_port_is_an_error_that_names_the_option() -> None:
    with bind_listener("127.0.0.1", 0) as listener, pytest.raises(RagError, match="--port"):
        bind_listener(*listener.getsockname())


def test_addresses_of_this_machine_alone() -> None:
    hosts = ("127.0.0.1", "127.8.9.1", "::1", "localhost", "0.0.0.0", "::", "192.0.2.7", "host.example")
    assert [is_loopback(host) for host in hosts] == [True] * 4 + [False] * 4
    assert [authority(host, 80) for host in ("::1", "127.0.0.1")] == ["[::1]:80", "127.0.0.1:80"]
