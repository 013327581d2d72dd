"""The library that is served in most of these tests, and a client of it."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.fakes.served_library import World, build_world


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Iterator[World]:
    made = build_world(tmp_path_factory.mktemp("world"))
    yield made
    made.service.close()


@pytest.fixture(scope="module")
def client(world: World) -> Iterator[TestClient]:
    with TestClient(world.app(), base_url="http://127.0.0.1:8650") as client:
        yield client
