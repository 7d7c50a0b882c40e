"""From a deposit to a refund with requests. Needs FLORIN_URL and FLORIN_KEY of a sandbox."""

import os
import uuid

import requests

URL = os.environ.get("FLORIN_URL", "http://127.0.0.1:8080")
session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['FLORIN_KEY']}"


def call(method, path, body=None, params=None):
    """Call the API. Writes have an Idempotency-Key, so they are safe to retry."""
    headers = {} if method == "GET" else {"Idempotency-Key": str(uuid.uuid4())}
    reply = session.request(
        method, URL + path, json=body, params=params, headers=headers, timeout=30
    )
    if not reply.ok:
        error = reply.json()
        raise RuntimeError(f"{error['error']}: {error['message']} ({error['request_id']})")
    return reply.json()


def rows(path, **filters):
    """Yield every row of a list, page by page."""
    page = {"has_more": True, "next_cursor": None}
    while page["has_more"]:
        page = call("GET", path, params={**filters, "cursor": page["next_cursor"]})
        yield from page["data"]


topup = call("POST", "/v1/topups", {"amount_usd": 100})
call("POST", f"/sandbox/v1/topups/{topup['id']}/deposit", {"amount_usd": 100})
call("POST", f"/sandbox/v1/topups/{topup['id']}/confirm", {})
print("balance:", call("GET", "/v1/balance")["balance_usd"])

card = call("POST", "/v1/cards", {"type": "virtual", "load_usd": 50, "limits": {"daily_usd": 20}})
purchase = call("POST", f"/sandbox/v1/cards/{card['id']}/authorize", {"amount": 12.5})
call("POST", f"/sandbox/v1/transactions/{purchase['id']}/capture", {})
call("POST", f"/sandbox/v1/transactions/{purchase['id']}/refund", {"amount": 2.5})

for row in rows(f"/v1/cards/{card['id']}/transactions", limit=2):
    print(f"{row['type']}: {row['amount_usd']}")

try:
    call("POST", f"/v1/cards/{card['id']}/load", {"amount_usd": 1000})
except RuntimeError as error:
    print("refused:", str(error).split(":")[0])
