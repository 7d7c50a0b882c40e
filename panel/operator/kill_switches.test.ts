import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { KillSwitches } from './kill_switches.tsx'

const example = sample('operator_list_kill_switches').data[0]
assert(example !== undefined)
const topups = { ...example, rail: 'topups' as const, on: false, reason: null, changed_at: null }
const listed = { data: [topups] }

test('a rail stops only with a reason, and the page then shows it as stopped', async (t) => {
  const stopped = { ...topups, on: true, reason: 'Node is behind', changed_at: example.changed_at }
  const service = serve(t, {
    operator_list_kill_switches: listed,
    operator_set_kill_switch: stopped,
  })
  const page = await open(t, KillSwitches, {})
  await page.click('button', 'Stop topups')
  await page.clickOn(page.in('dialog').get('button', 'Stop'))
  assert.deepEqual(service.sent('operator_set_kill_switch'), [], 'the reason is required')
  await page.fill('Reason', 'Node is behind')
  service.answer({ operator_list_kill_switches: { data: [stopped] } })
  await page.clickOn(page.in('dialog').get('button', 'Stop'))
  const sent = { rail: 'topups', on: true, reason: 'Node is behind' }
  assert.deepEqual(service.sent('operator_set_kill_switch'), [sent])
  assert(page.has('button', 'Resume topups'))
  assert.match(page.text(), /Stopped.*Node is behind/)
})

test('a refused change stays in the dialog, and Cancel changes nothing', async (t) => {
  const service = serve(t, {
    operator_list_kill_switches: listed,
    operator_set_kill_switch: refuse('insufficient_scope', 'You need the role admin.'),
  })
  const page = await open(t, KillSwitches, {})
  await page.click('button', 'Stop topups')
  await page.fill('Reason', 'Test')
  await page.clickOn(page.in('dialog').get('button', 'Stop'))
  assert.match(page.in('dialog').text(), /role admin/)
  await page.click('button', 'Cancel')
  assert(!page.has('dialog'))
  assert.equal(service.sent('operator_set_kill_switch').length, 1)
})

test('a list that cannot be loaded can be tried again', async (t) => {
  const service = serve(t, {
    operator_list_kill_switches: refuse('insufficient_scope', 'You need the role viewer.'),
  })
  const page = await open(t, KillSwitches, {})
  service.answer({ operator_list_kill_switches: listed })
  await page.click('button', 'Try again')
  assert(page.has('button', 'Stop topups'))
})
