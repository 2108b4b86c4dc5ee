"""Seeds of the fuzzers of the API: requests as a client sends them, and bodies of the routes that change a lab."""

import json

PAGE = "127.0.0.1:8421"
TOKEN = "T0k3n"  # of http_request_fuzz


def request(method, target, body=None, fields=(), host=PAGE, tcp=True, cut=0):
    text = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *fields]
    if body is not None:
        lines.append(f"Content-Length: {len(text)}")
    return bytes([cut << 1 | tcp]) + "\r\n".join(lines).encode() + b"\r\n\r\n" + text


KNOWN = f"Authorization: Bearer {TOKEN}"
REQUESTS = {
    "page": request("GET", "/"),
    "asset": request("GET", "/assets/a.js", fields=["Accept: */*"]),
    "token": request("GET", "/v1/lab", fields=[KNOWN]),
    "no_token": request("GET", "/v1/lab"),
    "wrong_token": request("GET", "/v1/lab", fields=["Authorization: Bearer 0"]),
    "token_in_the_query": request("GET", f"/v1/lab?token={TOKEN}"),
    "token_in_a_cookie": request("GET", "/v1/lab", fields=[f"Cookie: railyard-8421={TOKEN}"]),
    "foreign_host": request("GET", "/v1/lab", fields=[KNOWN], host="evil.example"),
    "foreign_origin": request("POST", "/v1/hold", {"on": True}, fields=[KNOWN, "Origin: http://evil.example"]),
    "foreign_site": request("POST", "/v1/hold", {"on": True}, fields=[KNOWN, "Sec-Fetch-Site: cross-site"]),
    "own_origin": request("POST", "/v1/hold", {"on": True}, fields=[KNOWN, f"Origin: http://{PAGE}"]),
    "exchange_token": request("POST", "/v1/session", {"token": TOKEN}),
    "exchange_code": request("POST", "/v1/session", {"code": "00"}),
    "leave": request("DELETE", "/v1/session", fields=[KNOWN]),
    "query": request("GET", "/v1/history?of=leaf1%3A3&x=a+b", fields=[KNOWN]),
    "query_not_utf8": request("GET", "/v1/history?of=%ff%00", fields=[KNOWN]),
    "two": request("GET", "/v1/lab", fields=[KNOWN]) + request("GET", "/v1/status", fields=[KNOWN])[1:],
    "cut": request("GET", "/v1/lab", fields=[KNOWN], cut=9),
    "chunked": bytes([0]) + b"POST /v1/hold HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
               b"b\r\n{\"on\":true}\r\n0\r\n\r\n",
    "socket": request("GET", "/v1/lab", tcp=False),
    "other_version": request("GET", "/v2/lab", tcp=False),
    "not_json": request("POST", "/v1/hold", b"{on", tcp=False),
    "deep": request("POST", "/v1/hold", b"[" * 100, tcp=False),
    "nul": request("POST", "/v1/hold", {"on": "\0"}, tcp=False),
    "surrogate": request("POST", "/v1/hold", b'{"on": "\\ud800"}', tcp=False),
    "too_long": request("POST", "/v1/hold", b"[" + b"0," * 2100 + b"0]", tcp=False),
    "length_lies": bytes([0]) + b"POST /v1/hold HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{}",
    "two_lengths": bytes([0]) + b"POST /v1/hold HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "no_http": bytes([0]) + b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "old": bytes([0]) + b"GET /v1/lab HTTP/1.0\r\n\r\n",
}

# By the number of the route in api_body_fuzz.cc.
BODIES = {name: bytes([route]) + (body if isinstance(body, bytes) else json.dumps(body).encode())
          for name, route, body in [
              ("set", 0, {"set": ["traffic.t.rate=5Gbps", "qos.default.classes.3.ecn.kmin=100KB"]}),
              ("set_nothing", 0, {"set": []}),
              ("set_no_list", 0, {"set": "x=1"}),
              ("set_away", 0, {"set": ["traffic.t.rate="]}),
              ("fault", 1, {"fault": "name: lossy, on: leaf1:1, loss: 1%, for: 10ms"}),
              ("fault_is_a_number", 1, {"fault": 7}),
              ("fault_down", 1, {"fault": "on: leaf1:2, at: 1ms, down: true"}),
              ("int", 2, {"what": "{ one-in: 100, classes: [3] }"}),
              ("attach_tap", 3, {"to": "h1", "attach": {"tap": "ry4"}}),
              ("attach_memif", 3, {"to": "h1:1", "attach": {"memif": {"socket": "/tmp/x", "id": 3}}}),
              ("attach_text", 3, {"to": "h1", "attach": "built-in"}),
              ("attach_list", 3, {"to": "h1", "attach": [[], {}]}),
              ("link", 4, {"link": "leaf1:1", "up": False}),
              ("link_up_is_text", 4, {"link": "leaf1:1", "up": "yes"}),
              ("link_port_huge", 4, {"link": "leaf1:99999999999999999999", "up": True}),
              ("series", 5, {"file": "/tmp/q.csv", "every": "1ms"}),
              ("series_never", 5, {"file": "", "every": "-1s"}),
              ("empty_object", 0, {}),
              ("null", 1, b"null"),
              ("text", 4, b'"link"'),
              ("huge_number", 4, b'{"link": "leaf1:1", "up": 1e999}'),
              ("half", 5, b'{"file": "'),
          ]}
