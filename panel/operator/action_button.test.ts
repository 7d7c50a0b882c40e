import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { ActionButton } from './action_button.tsx'

const account = sample('operator_get_account', { status: 'active' })
const props = {
  label: 'Suspend',
  title: 'Suspend account?',
  path: `/accounts/${account.id}/suspend`,
  invalidates: ['/accounts'],
  success_message: 'Account suspended.',
  children: 'The customer can’t sign in.',
}

test('an action is sent only after its consequences were confirmed', async (t) => {
  const service = serve(t, { operator_suspend_account: { ...account, status: 'suspended' } })
  const page = await open(t, ActionButton, props)
  await page.click('button', 'Suspend')
  assert.match(page.in('dialog', 'Suspend account?').text(), /can’t sign in/)
  await page.click('button', 'Cancel')
  assert.equal(service.calls.length, 0)
  await page.click('button', 'Suspend')
  await page.click('button', 'Suspend')
  assert.deepEqual(service.sent('operator_suspend_account'), [{ id: account.id }])
  assert(service.calls[0]?.headers.get('idempotency-key'))
  assert(!page.has('dialog'))
  assert.deepEqual(page.toasts(), ['Account suspended.'])
})

test('a refused action keeps the dialog open, and opening it again shows no old error', async (t) => {
  serve(t, { operator_suspend_account: refuse('insufficient_scope', 'You need the role risk.') })
  const page = await open(t, ActionButton, props)
  await page.click('button', 'Suspend')
  await page.click('button', 'Suspend')
  assert.match(page.in('dialog').get('alert').textContent ?? '', /role risk/)
  await page.press('Escape')
  await page.click('button', 'Suspend')
  assert(!page.has('alert'))
})
