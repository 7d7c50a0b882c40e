import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { row, sample } from '#panel/test_support/samples.ts'
import { PendingApproval } from './pending_approval.tsx'

const approval = row('list_approvals', { status: 'pending', summary: 'Withdraw $50' })
const props = { approval, is_linked: false }
const approved = { ...approval, status: 'approved' as const }

test('approving and declining each send their own decision', async (t) => {
  const service = serve(t, {
    decide_approval: ({ decision }) =>
      decision === 'approve' ? approved : { ...approval, status: 'declined' },
  })
  const page = await open(t, PendingApproval, props)
  await page.click('button', 'Approve')
  await page.click('button', 'Decline')
  const { id } = approval
  const sent = [
    { id, decision: 'approve' },
    { id, decision: 'decline' },
  ]
  assert.deepEqual(service.sent('decide_approval'), sent)
  assert.equal(page.toasts().at(-1), 'Declined.')
})

test('a large amount asks for the password; a wrong one is shown at its field', async (t) => {
  const service = serve(t, {
    get_account: sample('get_account', { two_factor_enabled: false }),
    decide_approval: ({ password }) => {
      if (password === undefined) return refuse('invalid_request', { password: 'is required' })
      return password === 'right' ? approved : refuse('invalid_credentials', 'Incorrect password.')
    },
  })
  const page = await open(t, PendingApproval, props)
  await page.click('button', 'Approve')
  assert.match(page.in('dialog').text(), /Withdraw \$50/)
  const approve = () => page.clickOn(page.in('dialog').get('button', 'Approve'))
  await page.fill('Password', 'wrong')
  await approve()
  assert.equal(page.errorOf('Password'), 'Incorrect password.')
  await page.fill('Password', 'right')
  await approve()
  const last = { id: approval.id, decision: 'approve', password: 'right' }
  assert.deepEqual(service.sent('decide_approval').at(-1), last)
})

test('the password can be refused, and nothing is approved', async (t) => {
  const service = serve(t, {
    get_account: sample('get_account'),
    decide_approval: refuse('invalid_request', { password: 'is required' }),
  })
  const page = await open(t, PendingApproval, props)
  await page.click('button', 'Approve')
  await page.click('button', 'Cancel')
  assert(!page.has('dialog'))
  assert.equal(service.sent('decide_approval').length, 1)
})

test('a request that was decided elsewhere says so', async (t) => {
  serve(t, { decide_approval: refuse('approval_decided', 'It was already decided.') })
  const page = await open(t, PendingApproval, props)
  await page.click('button', 'Decline')
  assert.match(page.get('alert').textContent ?? '', /already decided/)
})
