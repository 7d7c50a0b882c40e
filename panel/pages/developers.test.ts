import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, sample } from '#panel/test_support/samples.ts'
import { Developers } from './developers.tsx'
import { Security } from './security.tsx'
import { Settings } from './settings.tsx'

test('each tab has an address, and the current one is marked', async (t) => {
  serve(t, { list_api_keys: pageOf([]), get_limits: sample('get_limits') })
  const page = await open(t, Developers, { id: '' }, { path: '/developers' })
  await page.until(() => page.has('heading', 'API keys'))
  assert.equal(page.get('link', 'API keys').getAttribute('aria-current'), 'page')
  assert.equal(page.get('link', 'Limits').getAttribute('href'), '/developers/limits')
})

test('an older address of the agents leads to their page, and an unknown tab is not found', async (t) => {
  const page = await open(t, Developers, { id: 'agents' }, { path: '/developers/agents' })
  assert.equal(page.path(), '/agents')
  const unknown = await open(t, Developers, { id: 'nothing' })
  assert.match(unknown.text(), /Page not found/)
})

test('security: password, second factor, sessions and sign-ins are on one page', async (t) => {
  serve(t, {
    get_account: sample('get_account'),
    list_sessions: pageOf([]),
    get_audit_log: pageOf([]),
  })
  const page = await open(t, Security, {})
  const titles = ['Two-factor authentication', 'Change password', 'Sessions', 'Recent sign-ins']
  for (const title of titles) assert(page.has('heading', title), title)
})

test('settings: the account is named by email and ID', async (t) => {
  const account = sample('get_account', { email: 'ada@example.com' })
  serve(t, { get_account: account })
  const page = await open(t, Settings, {})
  assert.match(page.text(), /ada ?@example\.com/)
  assert(page.text().includes(account.id))
})
