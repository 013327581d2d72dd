"""Who may ask: host, site, token, content type and size, on the page, the API, media and elsewhere."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from rag.server import security as security_module
from rag.server.app import TELEMETRY, build_app
from rag.server.security import CONTENT_SECURITY_POLICY, HEADERS, AccessPolicy, new_token, own_names
from rag.server.service import Service
from rag.server.session import LibrarySession
from rag.settings import Settings

TOKEN = new_token()
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ADDRESSES = ("/v1/health", "/v1/videos/x/file", "/openapi.json", "/mcp", "/nowhere")
ORIGIN = "http://127.0.0.1:8650"


@pytest.fixture(scope="module")
def service(tmp_path_factory) -> Service:
    folder = tmp_path_factory.mktemp("none")
    settings = Settings(library=folder)
    return Service(settings, LibrarySession(settings), folder, models="ready")


@pytest.fixture(scope="module")
def client(service: Service) -> TestClient:
    return TestClient(build_app(service), base_url=ORIGIN)


@pytest.fixture(scope="module")
def guarded(service: Service) -> TestClient:
    """A server on every address, with a token."""
    policy = AccessPolicy("0.0.0.0", 8650, TOKEN, own_names("0.0.0.0"))
    return TestClient(build_app(service, policy), base_url="http://192.0.2.7:8650", follow_redirects=False)


def _kind(answer: Any) -> str:
    return str(answer.json()["type"]).removeprefix("urn:rag:problem:")


@pytest.mark.parametrize("address", ["/", "/v1/health", "/nowhere"])
@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        *(
            ({"Host": host}, 421, "foreign-host")
            for host in ("evil.example:8650", "192.0.2.7:8650", "[::1", "", "x@localhost", "localhost#x")
        ),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403, "foreign-request"),
        ({"Sec-Fetch-Site": "same-site"}, 403, "foreign-request"),
        *(
            ({"Origin": origin}, 403, "foreign-request")
            for origin in ("http://evil.example", "http://127.0.0.1:9999", "null", "http://127.0.0.1:8650/x")
        ),
    ],
)
def test_foreign_requests_are_refused_everywhere(
    client: TestClient, address: str, headers: dict[str, str], status: int, kind: str
) -> None:
    answer = client.get(address, headers=headers)
    assert (answer.status_code, _kind(answer)) == (status, kind)
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


@pytest.mark.parametrize(
    "headers",
    [
        *[{}, {"Host": "localhost:8650"}, {"Host": "127.0.0.1:9000"}, {"Host": "[::1]:8650"}],
        *[{"Sec-Fetch-Site": "same-origin"}, {"Origin": ORIGIN.replace("http", "https")}],
        {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
    ],
)
def test_own_requests_pass(client: TestClient, headers: dict[str, str]) -> None:
    assert client.get("/v1/health", headers=headers).status_code == 200


def test_a_link_elsewhere_opens_the_page_and_nothing_but_the_page(client: TestClient) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert client.get("/", headers=link).status_code == 200
    assert client.get("/v1/health", headers=link).status_code == 403
    assert client.get("/", headers={**link, "Sec-Fetch-Dest": "iframe"}).status_code == 403


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer wrong"}, {"Cookie": f"rag-token-8651={TOKEN}"}, {"Cookie": "[;="}],
)
def test_without_the_token_nothing_of_the_library_is_given(
    guarded: TestClient, address: str, headers: dict[str, str]
) -> None:
    answer = guarded.get(address, headers=headers)
    assert (answer.status_code, _kind(answer)) == (401, "token-missing")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_the_token_in_a_header_or_a_cookie_opens(guarded: TestClient) -> None:
    assert guarded.get("/v1/health", headers=BEARER).status_code == 200
    assert guarded.get("/v1/health", headers={"Cookie": f"rag-token-8650={TOKEN}"}).status_code == 200


def test_the_address_with_the_token_sets_a_cookie_and_hides_it(guarded: TestClient) -> None:
    answer = guarded.get("/", params={"token": TOKEN})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("rag-token-8650=")
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    assert answer.headers["referrer-policy"] == "no-referrer"
    wrong = guarded.get("/", params={"token": "caf\xe9"})
    assert (wrong.status_code, "set-cookie" in wrong.headers) == (401, False)


def test_a_token_that_is_pasted_on_the_page_sets_the_same_cookie(guarded: TestClient) -> None:
    given = guarded.post("/", json={"token": f" {TOKEN} "})
    linked = guarded.get("/", params={"token": TOKEN})
    assert (given.status_code, given.headers["set-cookie"]) == (204, linked.headers["set-cookie"])
    guarded.cookies.clear()


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"json": {"token": "wrong"}}, 401),
        ({"content": rb'{"token": "\ud800"}', "headers": {"Content-Type": "application/json"}}, 422),
        ({"data": {"token": TOKEN}}, 415),
        ({"json": {"token": TOKEN}, "headers": {"Sec-Fetch-Site": "cross-site"}}, 403),
        ({"json": {"token": TOKEN}, "headers": {"Host": "evil.example"}}, 421),
    ],
)
def test_a_pasted_token_passes_the_same_checks(
    guarded: TestClient, options: dict[str, Any], status: int
) -> None:
    answer = guarded.post("/", **options)
    assert (answer.status_code, "set-cookie" in answer.headers) == (status, False)


def test_a_server_without_a_token_takes_none(client: TestClient) -> None:
    assert client.post("/", json={"token": ""}).status_code == 401


@pytest.mark.parametrize("kind", [None, "application/x-www-form-urlencoded"])
@pytest.mark.parametrize("address", ["/v1/search", "/mcp"])
def test_a_form_of_another_page_cannot_post(client: TestClient, address: str, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    answer = client.post(address, content=b"{}", headers=headers)
    assert (answer.status_code, _kind(answer)) == (415, "wrong-content-type")


def test_long_bodies_and_those_of_many_entries_are_refused_before_they_are_read(
    client: TestClient, monkeypatch
) -> None:
    monkeypatch.setattr(security_module, "LONGEST_BODY", 100)
    monkeypatch.setattr(security_module, "MOST_COMMAS", 9)
    headers = {"Content-Type": "application/json; charset=utf-8"}
    body = b'{"query": "' + b"x" * 200 + b'"}'
    for content in (body, iter([body[:90], body[90:]]), b"[0" + b",0" * 10 + b"]"):
        answer = client.post("/v1/search", content=content, headers=headers)
        assert (answer.status_code, _kind(answer)) == (413, "body-too-large")


def test_no_request_is_measured_and_no_page_loads_from_elsewhere(client: TestClient) -> None:
    assert not any(TELEMETRY.values())
    assert [client.get(address).status_code for address in ("/docs", "/redoc")] == [404, 404]


@pytest.mark.parametrize("name", ["../app.py", "..%2fapp.py", "/etc/passwd", "%00.js", "x" * 5_000 + ".js"])
def test_static_files_are_those_of_the_page(client: TestClient, name: str) -> None:
    answer = client.get(f"/static/{name}")
    assert (answer.status_code, _kind(answer)) == (404, "not-found")


def test_a_socket_is_refused(client: TestClient) -> None:
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/"):
        pass


def test_a_bug_is_a_problem_with_a_number_that_is_logged(service: Service, monkeypatch, caplog) -> None:
    def fail(_: Any) -> None:
        raise ZeroDivisionError("the reason")

    monkeypatch.setattr(Service, "library", fail)
    client = TestClient(build_app(service), base_url=ORIGIN, raise_server_exceptions=False)
    answer = client.get("/v1/stats")
    shape = answer.json()
    assert (answer.status_code, _kind(answer)) == (500, "internal-error")
    assert dict(answer.headers).items() >= {name.lower(): value for name, value in HEADERS.items()}.items()
    assert "the reason" not in answer.text
    number = shape["instance"].partition("#")[2]
    assert number in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_methods_and_addresses_that_do_not_exist_are_problems(client: TestClient) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.put("/v1/search", content=b"{}", headers=headers)
    assert (answer.status_code, _kind(answer)) == (405, "method-not-allowed")
    answer = client.get("/v2/search")
    assert (answer.status_code, _kind(answer)) == (404, "not-found")
    answer = client.post("/v1/search", content=b"{", headers=headers)
    assert (answer.status_code, _kind(answer)) == (422, "invalid-request")
    assert answer.json()["errors"]
    answer = client.get("/v1/jobs/first")
    assert answer.json()["detail"] == "path.job_id: 'first' is not the id of a job, as of /v1/jobs"
