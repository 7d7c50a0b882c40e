import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startAgentService } from '#test/support/agent.ts'
import { furnish } from '#test/support/furnished.ts'
import { everyPage, NO_BROWSER, type PanelPage, startBrowser } from '#test/support/panel_page.ts'
import { openAccount } from '#test/support/people.ts'

const service = await startAgentService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false
const { person, ids } = await furnish(service)

const loaded = (shown: Page) =>
  shown.locator('[class*=shimmer]').first().waitFor({ state: 'detached' })

/** Loaded when this heading, and what else is named, has come. */
const page = (name: string, path: string, heading: string, ...texts: string[]): PanelPage => ({
  name,
  path,
  ready: async (shown) => {
    await shown.getByRole('heading', { name: heading, exact: true }).first().waitFor()
    for (const text of texts) await shown.getByText(text).first().waitFor()
    await loaded(shown)
  },
})

type Pressed = [button: string, text: string]

const pressing = (from: PanelPage, name: string, [button, text]: Pressed): PanelPage => ({
  ...from,
  name,
  ready: async (shown: Page) => {
    await from.ready(shown)
    await shown.getByRole('button', { name: button }).first().click()
    await shown.getByText(text).first().waitFor()
    await loaded(shown)
  },
})

const transaction = page('transaction', `/transactions/${ids.capture}`, 'Corner Books', 'Captured')
const withdrawals = page('withdrawals', '/withdrawals', 'Withdrawals', '$24.00')
const webhooks = page('webhooks', '/developers/webhooks', 'Webhooks', 'Shop back end')
const settings = page('settings', '/settings', 'Settings', 'Security')

test('every page about money fits, is quiet and open to all', { skip }, async () => {
  if (browser === null) return
  await everyPage(browser, { url, bearer: person.bearer }, [
    page('transactions', '/transactions', 'Transactions', 'Corner Books'),
    transaction,
    pressing(transaction, 'transaction_message', ['Show', 'The answer']),
    page('decline', `/transactions/${ids.decline}`, 'Lucky Casino', 'Load the card'),
    page('disputes', '/disputes', 'Disputes', 'Not received'),
    page('dispute', `/disputes/${ids.dispute}`, 'Dispute with Corner Books', 'Where it stands'),
    withdrawals,
    pressing(withdrawals, 'withdraw', ['Withdraw', 'Left today']),
    page('withdrawal', `/withdrawals/${ids.withdrawal}`, 'Withdrawal of $25.00'),
    page('activity', '/activity', 'Activity', 'Lucky Casino'),
  ])
})

test('so does every page about the account', { skip }, async () => {
  if (browser === null) return
  const tickets = page('tickets', '/tickets', 'Support', 'Declined at a kiosk')
  await everyPage(browser, { url, bearer: person.bearer }, [
    tickets,
    pressing(tickets, 'ask_support', ['Ask support', 'Question']),
    page('ticket', `/tickets/${ids.ticket}`, 'Declined at a kiosk', 'railway'),
    page('developers', '/developers', 'API keys', 'flk_'),
    webhooks,
    pressing(webhooks, 'new_webhook', ['Add endpoint', 'account.created']),
    page('webhook', `/developers/webhooks/${ids.webhook}`, 'Latest deliveries', 'Send again'),
    page('agents', '/developers/agents', 'Test agent', 'All cards'),
    page('requests', '/developers/requests?operation=issue_card', 'Request builder', 'shipping'),
    page('audit_log', '/developers/audit', 'Audit log', 'account.created'),
    page('limits', '/developers/limits', 'Money', 'One withdrawal'),
    settings,
    pressing(settings, 'two_factor', ['Turn on', 'Or type this secret']),
  ])
})

test('so does what a new account has nothing to show for', { skip }, async () => {
  if (browser === null) return
  const { bearer } = await openAccount(url)
  await everyPage(browser, { url, bearer }, [
    page('transactions_new', '/transactions', 'Transactions', 'No purchase yet'),
    page('withdrawals_new', '/withdrawals', 'Withdrawals', 'No withdrawal yet'),
    page('webhooks_new', '/developers/webhooks', 'Webhooks', 'No endpoint yet'),
    page('agents_new', '/developers/agents', 'Connect an agent', 'No agent is connected'),
  ])
})
