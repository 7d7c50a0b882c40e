#!/usr/bin/env bash
# From a deposit to a refund. Needs FLORIN_URL and FLORIN_KEY of a sandbox, and curl.
set -euo pipefail

call() { # METHOD PATH [JSON]
  curl --silent --show-error --fail-with-body --request "$1" "$FLORIN_URL$2" \
    --header "Authorization: Bearer $FLORIN_KEY" \
    --header 'Content-Type: application/json' ${3:+--data "$3"}
}
field() { # print the first string or number with this name in the JSON on stdin
  sed -E 's/.*"'"$1"'":"?([^",}]*).*/\1/;q'
}

topup=$(call POST /v1/topups '{"amount_usd": 100}' | grep -oE 'tup_[a-z0-9]+' | head -1)
call POST "/sandbox/v1/topups/$topup/deposit" '{"amount_usd": 100}' > /dev/null
call POST "/sandbox/v1/topups/$topup/confirm" '{}' > /dev/null
echo "balance: $(call GET /v1/balance | field balance_usd)"

card=$(call POST /v1/cards '{"type": "virtual", "load_usd": 50, "limits": {"daily_usd": 20}}' |
  grep -oE 'card_[a-z0-9]+' | head -1)
purchase=$(call POST "/sandbox/v1/cards/$card/authorize" \
  '{"amount": 12.50, "merchant_name": "Corner Books"}' | grep -oE 'txn_[a-z0-9]+' | head -1)
call POST "/sandbox/v1/transactions/$purchase/capture" '{}' > /dev/null
call POST "/sandbox/v1/transactions/$purchase/refund" '{"amount": 2.50}' > /dev/null
call POST "/v1/cards/$card/freeze" > /dev/null

call GET "/v1/cards/$card" > card.json
echo "card: $(field status < card.json), $(field balance_usd < card.json) left"
