import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { type Answers, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { Overview } from './overview.tsx'

const notifications = { low_balance_threshold_usd: 50 }
const account = sample('get_account', { balance_usd: 200, livemode: true, notifications })
const card = row('list_cards', { name: 'Travel' })
const purchase = row('list_transactions')
const answers: Answers = {
  get_account: account,
  get_balance: sample('get_balance', { balance_usd: 200, owed_usd: 0 }),
  get_balance_history: pageOf([row('get_balance_history')]),
  get_activity: pageOf([row('get_activity', { message: 'Card frozen' })]),
  get_spending: sample('get_spending', { total_usd: 0, data: [] }),
  list_cards: pageOf([card]),
  list_transactions: pageOf([purchase]),
}

test('get_started: the first steps are shown until all are done, with the next one linked', async (t) => {
  const none = pageOf([])
  const service = serve(t, { ...answers, list_cards: none, list_transactions: none })
  const page = await open(t, Overview, {})
  assert(page.has('heading', 'Get started'))
  assert.equal(page.get('link', /Issue a card/).getAttribute('href'), '/cards?issue')
  service.answer({ list_cards: pageOf([card]), list_transactions: pageOf([purchase]) })
  const done = await open(t, Overview, {})
  assert(!done.has('heading', 'Get started'))
})

test('a low balance is mentioned below the threshold, and a debt takes its place', async (t) => {
  const low = { ...account, balance_usd: 20 }
  const service = serve(t, { ...answers, get_account: low })
  const page = await open(t, Overview, {})
  assert.match(page.text(), /below \$50\.00/)
  service.answer({ get_balance: sample('get_balance', { owed_usd: 12.5 }) })
  const owing = await open(t, Overview, {})
  assert.match(owing.get('alert').textContent ?? '', /You owe \$12\.50/)
  assert.doesNotMatch(owing.text(), /below \$50\.00/)
})

test('your_cards: single-use cards come last, and a frozen card says so', async (t) => {
  const cards = [
    { ...card, id: card.id.replace(/.$/, '1'), name: 'Once', usage: 'single_use' as const },
    { ...card, id: card.id.replace(/.$/, '2'), name: 'Travel', status: 'frozen' as const },
  ]
  serve(t, { ...answers, list_cards: pageOf(cards) })
  const page = await open(t, Overview, {})
  const names = page.all('link', /^(?:Once|Travel)/).map((link) => link.textContent ?? '')
  assert.match(names[0] ?? '', /^Travel.*Frozen/)
  assert.match(names[1] ?? '', /^Once/)
})

test('recent_activity: events link to what they are about, and a failed list can be tried again', async (t) => {
  const service = serve(t, { ...answers, get_activity: refuse('account_suspended', 'Suspended.') })
  const page = await open(t, Overview, {})
  service.answer({ get_activity: answers.get_activity } as Answers)
  await page.click('button', 'Try again')
  assert(page.has('link', /^Card frozen/))
})

test('a balance that cannot be loaded is not shown as zero', async (t) => {
  serve(t, { ...answers, get_balance: refuse('account_suspended', 'It is suspended.') })
  const page = await open(t, Overview, {})
  assert.match(page.get('alert').textContent ?? '', /It is suspended\./)
})
