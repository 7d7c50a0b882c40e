import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row } from '#panel/test_support/samples.ts'
import { RecentSignIns } from './recent_sign_ins.tsx'

const entry = row('get_audit_log')
const entries = [
  { ...entry, action: 'session.created', result: 'success' as const },
  { ...entry, action: 'session.failed', result: 'failure' as const },
  { ...entry, action: 'reset_password', result: 'denied' as const },
].map((each, at) => ({ ...each, id: entry.id.replace(/.$/, String(at)) }))

test('successful and failed sign-ins differ, also a refused password reset', async (t) => {
  const service = serve(t, { get_audit_log: pageOf(entries) })
  const page = await open(t, RecentSignIns, {})
  const results = page.all('row').map((line) => line.children[1]?.textContent)
  assert.deepEqual(results, ['Result', 'Signed in', 'Failed', 'Password reset failed'])
  const actions = String(service.sent('get_audit_log')[0]?.['action']).split(',')
  assert(actions.includes('session.failed') && actions.includes('account.created'))
})

test('without entries it says what will appear', async (t) => {
  serve(t, { get_audit_log: pageOf([]) })
  const page = await open(t, RecentSignIns, {})
  assert.match(page.text(), /No sign-ins/)
})
