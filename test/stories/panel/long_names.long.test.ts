import { test } from 'node:test'
import type { Page } from '#test/packages/playwright.ts'
import { fileDispute } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { OPERATOR_TOKEN } from '#test/support/operator.ts'
import { everyPage, NO_BROWSER, type PanelPage, startBrowser } from '#test/support/panel_page.ts'
import { authorize, follow, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { subscribe } from '#test/support/webhooks.ts'

/** Names as long as the API accepts them, and without a space at which a line could break. */
const service = await startTestService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

const spender = await openSpender(service, { name: 'W'.repeat(100) })
const { card, bearer } = spender
const merchant_name = 'M'.repeat(25)
const held = await authorize(url, spender, { amount: 40, merchant_name })
const capture = await follow(url, spender, { id: held.id, verb: 'capture' })
const dispute = await fileDispute(url, { ...spender, capture }, { explanation: 'x'.repeat(500) })
const ticket = await send(url, 'POST', '/v1/tickets', {
  bearer,
  body: { subject: 'S'.repeat(200), message: 'w'.repeat(500), category: 'card', card_id: card.id },
})
const webhook = await subscribe(url, spender, {
  url: `https://example.com/${'p'.repeat(300)}`,
  description: 'd'.repeat(200),
})
await send(url, 'POST', '/v1/api_keys', { bearer, body: { name: 'k'.repeat(100) } })

const page = (name: string, path: string, text: string): PanelPage => ({
  name: `long_${name}`,
  path,
  ready: async (shown: Page) => {
    await shown.getByRole('main').getByText(text).first().waitFor()
    await shown.locator('[class*=shimmer]').first().waitFor({ state: 'detached' })
  },
})

test('every page of the panel fits with the longest names', { skip }, async () => {
  if (browser === null) return
  await everyPage(browser, { url, bearer }, [
    page('overview', '/', 'WWWW'),
    page('cards', '/cards', 'WWWW'),
    page('card', `/cards/${card.id}`, 'MMMM'),
    page('transactions', '/transactions', 'MMMM'),
    page('transaction', `/transactions/${capture.id}`, 'MMMM'),
    page('spending', '/spending', 'MMMM'),
    page('disputes', '/disputes', 'MMMM'),
    page('dispute', `/disputes/${dispute.id}`, 'MMMM'),
    page('activity', '/activity', 'MMMM'),
    page('tickets', '/tickets', 'SSSS'),
    page('ticket', `/tickets/${ticket.body['id']}`, 'wwww'),
    page('api_keys', '/developers', 'kkkk'),
    page('webhooks', '/developers/webhooks', 'pppp'),
    page('webhook', `/developers/webhooks/${webhook.id}`, 'dddd'),
    page('audit_log', '/developers/audit', 'create_webhook'),
    page('inbox', '/inbox', 'webhook'),
  ])
})

test('every page of the console fits with the longest names', { skip }, async () => {
  if (browser === null) return
  const { account_id } = spender
  await everyPage(browser, { url, operator_token: OPERATOR_TOKEN }, [
    page('operator_account', `/operator/accounts/${account_id}`, 'WWWW'),
    page('operator_cards', '/operator/cards', 'WWWW'),
    page('operator_transactions', `/operator/transactions?account_id=${account_id}`, 'MMMM'),
    page('operator_disputes', '/operator/disputes', 'MMMM'),
    page('operator_tickets', '/operator/tickets', 'SSSS'),
  ])
})
