"""The REST API does what its description says: requests that the description allows, made up and sent."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.fakes.served_library import build_world
from tests.fakes.sources import ROOT

ADDRESS = "http://127.0.0.1:8650"
DESCRIBED = json.loads((ROOT / "docs" / "reference" / "openapi.json").read_text(encoding="utf-8"))
OPERATIONS = [(method, path) for path, methods in DESCRIBED["paths"].items() for method in methods]

pytestmark = pytest.mark.slow


# 400: a question without a word; 403: a folder that may not be indexed.
CONFIG = {
    "base-url": ADDRESS,
    "headers": {"Host": "127.0.0.1"},
    "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", 304, 400, 403, 404]}},
}


@pytest.fixture(scope="module")
def api(tmp_path_factory) -> Any:
    import schemathesis  # a second in each of pytest's workers

    world = build_world(tmp_path_factory.mktemp("world"))
    # Each of its calls is a server's whole life.
    vars(world.service).update(stop=lambda: None, close=lambda: None)
    config = schemathesis.Config.from_dict(CONFIG)
    return schemathesis.openapi.from_asgi(
        "/openapi.json", world.app(), config=config, headers=CONFIG["headers"]
    )


def test_the_committed_description_is_that_of_the_server(api: Any) -> None:
    assert api.raw_schema["paths"].keys() == DESCRIBED["paths"].keys()
    assert len(OPERATIONS) > 20


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_answer_fits_the_description(method: str, path: str, api: Any) -> None:
    @settings(
        max_examples=5,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=api[path][method].as_strategy())
    def check(case: Any) -> None:
        statuses.append(case.call_and_validate().status_code)

    statuses: list[int] = []
    check()
    assert statuses
    assert max(statuses) < 500
