import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { MaintenancePage } from './maintenance.tsx'
import { PlannedMaintenance } from './planned_maintenance.tsx'

const plan = sample('operator_announce_maintenance')
const operator_get_health = sample('operator_get_health', { maintenance: [] })

test('times of the operator are sent in UTC, and the form is cleared afterwards', async (t) => {
  const service = serve(t, { operator_get_health, operator_announce_maintenance: plan })
  const page = await open(t, MaintenancePage, {})
  await page.fill('Starts (your time zone)', '2026-11-18T15:50')
  await page.fill('Ends (your time zone)', '2026-11-18T16:50')
  await page.fill('Message', ' Deposits pause. ')
  await page.click('button', 'Announce to all accounts')
  assert.deepEqual(service.sent('operator_announce_maintenance'), [
    {
      starts_at: new Date('2026-11-18T15:50').toISOString(),
      ends_at: new Date('2026-11-18T16:50').toISOString(),
      message: 'Deposits pause.',
    },
  ])
  assert.equal(page.valueOf('Message'), '')
})

test('a refused end is shown at its field', async (t) => {
  const refusal = refuse('invalid_request', { ends_at: 'must be after the start' })
  serve(t, { operator_get_health, operator_announce_maintenance: refusal })
  const page = await open(t, MaintenancePage, {})
  await page.fill('Starts (your time zone)', '2026-11-18T16:50')
  await page.fill('Ends (your time zone)', '2026-11-18T15:50')
  await page.fill('Message', 'Deposits pause.')
  await page.click('button', 'Announce to all accounts')
  assert.equal(page.errorOf('Ends (your time zone)'), 'Must be after the start.')
  assert.equal(page.errorOf('Starts (your time zone)'), undefined)
})

test('planned_maintenance: what is planned is listed with its message', async (t) => {
  useTestClock(t)
  serve(t, { operator_get_health: { ...operator_get_health, maintenance: [plan] } })
  const page = await open(t, PlannedMaintenance, {})
  assert(page.text().includes(plan.message))
  assert.deepEqual(
    page.all('time').map((each) => each.getAttribute('datetime')),
    [plan.starts_at, plan.ends_at],
  )
})
