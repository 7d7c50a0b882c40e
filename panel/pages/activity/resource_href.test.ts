import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActivityEvent } from '#contract/activity.ts'
import { resourceHref } from './resource_href.ts'

test('an event leads to the page of its resource', () => {
  const of = (type: string, id: string, card_id: string | null = null) =>
    resourceHref({ resource: { type, id }, card_id } as ActivityEvent)
  assert.equal(of('transaction', 'txn_1', 'card_1'), '/transactions/txn_1')
  assert.equal(of('approval', 'apr_1', 'card_1'), '/approvals/apr_1')
  assert.equal(of('ticket', 'tkt_1'), '/tickets/tkt_1')
  assert.equal(of('webhook', 'wh_1'), '/developers/webhooks/wh_1')
  assert.equal(of('account', 'acct_1'), '/settings')
})
