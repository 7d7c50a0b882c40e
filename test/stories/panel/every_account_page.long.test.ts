import { test } from 'node:test'
import type { Page } from '#test/packages/playwright.ts'
import { startAgentService } from '#test/support/agent.ts'
import { everyPage, NO_BROWSER, type PanelPage, startBrowser } from '#test/support/panel_page.ts'
import { openAccount } from '#test/support/people.ts'
import { seedAccount } from '#test/support/seeded_account.ts'

const service = await startAgentService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false
const { person, ids } = await seedAccount(service)

const loaded = (shown: Page) =>
  shown.locator('[class*=shimmer]').first().waitFor({ state: 'detached' })

/** Ready when the heading and all texts are visible. */
const page = (name: string, path: string, heading: string, ...texts: string[]): PanelPage => ({
  name,
  path,
  ready: async (shown) => {
    await shown.getByRole('heading', { name: heading, exact: true }).first().waitFor()
    for (const text of texts) await shown.getByText(text).first().waitFor()
    await loaded(shown)
  },
})

type PressedButton = [button: string, text: string]

const pressing = (from: PanelPage, name: string, [button, text]: PressedButton): PanelPage => ({
  ...from,
  name,
  ready: async (shown: Page) => {
    await from.ready(shown)
    await shown.getByRole('button', { name: button }).first().click()
    await shown.getByText(text).first().waitFor()
    await loaded(shown)
  },
})

const transactions = page('transactions', '/transactions', 'Transactions', 'Corner Books')
const transaction = page('transaction', `/transactions/${ids.capture}`, 'Corner Books', 'Captured')
const withdrawals = page('withdrawals', '/withdrawals', 'Withdrawals', '$24.00')
const webhooks = page('webhooks', '/developers/webhooks', 'Webhooks', 'Shop back end')
const security = page('security', '/security', 'Security', 'This device', 'Account created')
const settings = page('settings', '/settings', 'Settings', 'Security alerts')

test('every money page fits, logs no errors and is accessible', { skip }, async () => {
  if (browser === null) return
  await everyPage(browser, { url, bearer: person.bearer }, [
    transactions,
    pressing(transactions, 'purchase_events', ['Events of Corner Books', 'Authorized']),
    page('spending', '/spending', 'Spending', 'By merchant', 'Corner Books'),
    page('statements', '/statements', 'Statements', 'In progress'),
    transaction,
    pressing(transaction, 'transaction_message', ['Show', 'Raw message (hex, masked)']),
    page('decline', `/transactions/${ids.decline}`, 'Lucky Casino', 'Add money to the card'),
    page('disputes', '/disputes', 'Disputes', 'Not received'),
    page('dispute', `/disputes/${ids.dispute}`, 'Dispute with Corner Books', 'Evidence due'),
    withdrawals,
    pressing(withdrawals, 'withdraw', ['Withdraw', 'Remaining today']),
    page('withdrawal', `/withdrawals/${ids.withdrawal}`, '$25.00 withdrawal'),
    page('activity', '/activity', 'Activity', 'Lucky Casino'),
  ])
})

test('every account page fits, logs no errors and is accessible', { skip }, async () => {
  if (browser === null) return
  const tickets = page('tickets', '/tickets', 'Support', 'Declined at a kiosk')
  await everyPage(browser, { url, bearer: person.bearer }, [
    tickets,
    pressing(tickets, 'new_ticket', ['New ticket', 'Don’t include card numbers']),
    page('ticket', `/tickets/${ids.ticket}`, 'Declined at a kiosk', 'railway'),
    page('developers', '/developers', 'API keys', 'flk_'),
    webhooks,
    pressing(webhooks, 'new_webhook', ['Add endpoint', 'account.created']),
    page('webhook', `/developers/webhooks/${ids.webhook}`, 'Recent deliveries', 'Resend'),
    page('agents', '/agents', 'Test agent', 'All cards'),
    {
      name: 'agent',
      path: '/agents',
      ready: async (shown) => {
        await shown.getByRole('link', { name: 'Test agent' }).first().click()
        await shown.getByRole('heading', { name: 'Activity' }).waitFor()
        await loaded(shown)
      },
    },
    page('inbox', '/inbox', 'Sandbox inbox', 'New API key created'),
    page('requests', '/developers/requests?operation=issue_card', 'Request builder', 'shipping'),
    page('audit_log', '/developers/audit', 'Audit log', 'account.created'),
    page('limits', '/developers/limits', 'Account limits', 'Withdrawal amount'),
    settings,
    security,
    pressing(security, 'end_session', ['Sign out node', 'You’ll need your password']),
    pressing(security, 'end_other_sessions', [
      'Sign out everywhere else',
      'You stay signed in here',
    ]),
    pressing(security, 'two_factor', ['Turn on', 'Or enter this key']),
  ])
})

test('every empty page of a new account fits, logs no errors and is accessible', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer } = await openAccount(url)
  await everyPage(browser, { url, bearer }, [
    page('transactions_new', '/transactions', 'Transactions', 'No transactions yet'),
    page('spending_new', '/spending', 'Spending', 'No purchases this month'),
    page('withdrawals_new', '/withdrawals', 'Withdrawals', 'No withdrawals yet'),
    page('webhooks_new', '/developers/webhooks', 'Webhooks', 'No endpoints'),
    page('agents_new', '/agents', 'Connect an agent', 'No connected agents'),
  ])
})
