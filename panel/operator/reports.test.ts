import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { Health } from './health.tsx'
import { Overview } from './overview.tsx'
import { Reconciliation } from './reconciliation.tsx'

const report = sample('operator_get_reconciliation', { violations: [] })
const [chain] = report.chains
const [network] = report.network
assert(chain !== undefined && network !== undefined)

test('reconciliation: a shortfall, a mismatch and a chain that was not compared differ', async (t) => {
  const chains = [
    { ...chain, chain: 'tron', is_short: true, difference_usd: -5 },
    { ...chain, chain: 'base', is_short: false, difference_usd: null, on_chain_usd: null },
    { ...chain, chain: 'evm', is_short: false, difference_usd: 0 },
  ]
  const networks = [{ ...network, difference_usd: 1 }]
  serve(t, { operator_get_reconciliation: { ...report, chains, network: networks } })
  const page = await open(t, Reconciliation, {})
  const text = page.text()
  for (const word of ['Shortfall', 'Not compared', 'Balanced', 'Mismatch']) {
    assert(text.includes(word), word)
  }
  assert.match(text, /−\$5\.00/)
})

test('reconciliation: passed proofs, proofs that have not run, and findings differ', async (t) => {
  const service = serve(t, { operator_get_reconciliation: { ...report, proven_at: null } })
  const first = await open(t, Reconciliation, {})
  assert.match(first.text(), /Not run yet/)
  service.answer({ operator_get_reconciliation: report })
  const passed = await open(t, Reconciliation, {})
  assert.match(passed.text(), /All proofs pass/)
  const [finding] = sample('operator_get_reconciliation').violations
  assert(finding !== undefined)
  service.answer({ operator_get_reconciliation: { ...report, violations: [finding] } })
  const failed = await open(t, Reconciliation, {})
  assert(failed.text().includes(finding.sentence))
  assert.doesNotMatch(failed.text(), /All proofs pass/)
})

test('health: each component shows its status, and an unknown reading is not a zero', async (t) => {
  const components = {
    issuer: { status: 'degraded' as const, latency_ms: null, message: 'Visa is slow.' },
  }
  serve(t, { operator_get_health: sample('operator_get_health', { components, maintenance: [] }) })
  const page = await open(t, Health, {})
  assert.match(page.text(), /Card networks Degraded Latency Unknown Message Visa is slow\./)
})

test('health: a report that cannot be loaded can be tried again', async (t) => {
  const service = serve(t, { operator_get_health: refuse('insufficient_scope', 'No access.') })
  const page = await open(t, Health, {})
  service.answer({ operator_get_health: sample('operator_get_health') })
  await page.click('button', 'Try again')
  assert(page.has('heading', 'Card networks'))
})

test('overview: decline reasons are summed over all days, most frequent first', async (t) => {
  const figures = sample('operator_get_figures')
  const [day] = figures.days
  assert(day !== undefined)
  const quiet = {
    ...day,
    deposited_usd: 0,
    captured_usd: 0,
    approval_rate: null,
    accounts_opened: 0,
  }
  const days = [
    { ...quiet, day: '2026-11-15', decline_reasons: { card_frozen: 2, insufficient_funds: 1 } },
    { ...quiet, day: '2026-11-16', decline_reasons: { insufficient_funds: 4 } },
  ]
  serve(t, { operator_get_figures: { ...figures, days } })
  const page = await open(t, Overview, {})
  const counts = [...document.querySelectorAll('section:last-of-type dd')]
  assert.deepEqual(
    counts.map(({ textContent }) => textContent),
    ['5', '2'],
  )
  assert(!page.has('img'), 'days without any value have no empty chart')
})

/** The texts that charts draw, because the document draws nothing. */
function collectTexts(t: TestContext): string[] {
  const texts: string[] = []
  const context = document.createElement('canvas').getContext('2d')
  assert(context !== null)
  Object.assign(context, { fillText: (text: string) => texts.push(text) })
  t.after(() => Reflect.deleteProperty(context, 'fillText'))
  const width = { configurable: true, get: () => 600 }
  Object.defineProperty(HTMLElement.prototype, 'clientWidth', width)
  t.after(() => Reflect.deleteProperty(HTMLElement.prototype, 'clientWidth'))
  return texts
}

test('overview: amounts of millions fit beside their chart', async (t) => {
  const texts = collectTexts(t)
  const figures = sample('operator_get_figures')
  const [day] = figures.days
  assert(day !== undefined)
  const days = [1_250_000.5, 1_980_000].map((captured_usd, at) => ({
    ...day,
    day: `2026-11-1${at + 5}`,
    captured_usd,
    deposited_usd: captured_usd / 10,
  }))
  serve(t, { operator_get_figures: { ...figures, days } })
  await open(t, Overview, {})
  const amounts = texts.filter((text) => text.startsWith('$'))
  assert.deepEqual([...new Set(amounts)], ['$0', '$100K', '$200K', '$1M', '$2M'])
})
