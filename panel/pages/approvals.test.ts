import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row } from '#panel/test_support/samples.ts'
import { Approvals } from './approvals.tsx'

const pending = row('list_approvals', { status: 'pending', summary: 'Withdraw $50' })
const decided = { ...pending, id: pending.id.replace(/.$/, '2'), status: 'approved' as const }

test('open requests come first, and earlier ones are listed below', async (t) => {
  serve(t, {
    list_approvals: ({ status }) => pageOf([status === 'pending' ? pending : decided]),
  })
  const page = await open(t, Approvals, { id: pending.id })
  assert.match(page.in('list', 'Pending approvals').text(), /Withdraw \$50/)
  assert.match(page.in('table', 'Earlier requests').text(), /Approved/)
})

test('without requests it says so, and has no empty table', async (t) => {
  serve(t, { list_approvals: pageOf([]) })
  const page = await open(t, Approvals, { id: '' })
  assert.match(page.text(), /Nothing to approve/)
  assert(!page.has('table'))
})

test('requests that cannot be loaded can be tried again', async (t) => {
  const service = serve(t, {
    list_approvals: ({ status }) =>
      status === 'pending' ? refuse('account_suspended', 'It is suspended.') : pageOf([]),
  })
  const page = await open(t, Approvals, { id: '' })
  service.answer({ list_approvals: pageOf([]) })
  await page.click('button', 'Try again')
  assert.match(page.text(), /Nothing to approve/)
})
