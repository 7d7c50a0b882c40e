import assert from 'node:assert/strict'
import type { Page } from '#test/packages/playwright.ts'
import { send } from './http.ts'
import type { PanelPage } from './panel_page.ts'

const loaded = (page: Page) =>
  page.locator('[class*=shimmer]').first().waitFor({ state: 'detached' })

/** Ready when the page shows at least one of these; by default a row of its table. */
const list = (name: string, path: string, row = 'main tbody tr'): PanelPage => ({
  name: `demo_${name}`,
  path,
  ready: async (page) => {
    await page.locator(row).first().waitFor()
    await loaded(page)
  },
})

/** The panel's pages that list something. */
export const panel_lists: readonly PanelPage[] = [
  list('overview', '/', 'main a[href^="/transactions/txn_"]'),
  list('cards', '/cards', 'main a[href^="/cards/card_"]'),
  list('topups', '/topups'),
  list('transactions', '/transactions'),
  list('spending', '/spending', 'main h2:has-text("By merchant")'),
  list('statements', '/statements'),
  list('disputes', '/disputes'),
  list('withdrawals', '/withdrawals'),
  list('activity', '/activity'),
  list('agents', '/agents', 'main a[href^="/agents/"]'),
  list('approvals', '/approvals', 'main button:has-text("Approve")'),
  list('tickets', '/tickets'),
  list('api_keys', '/developers'),
  list('webhooks', '/developers/webhooks'),
  list('audit_log', '/developers/audit'),
  list('inbox', '/inbox', 'main ul[aria-label="Emails"] li'),
  list('security', '/security'),
]

/** The console's pages that list something. */
export const console_lists: readonly PanelPage[] = [
  list('operator_disputes', '/operator/disputes'),
  list('operator_tickets', '/operator/tickets'),
  list('operator_withdrawals', '/operator/withdrawals'),
  list('operator_suspense', '/operator/suspense'),
  list('operator_clearings', '/operator/clearings'),
  list('operator_refunds', '/operator/refunds'),
  list('operator_accounts', '/operator/accounts'),
  list('operator_cards', '/operator/cards'),
  list('operator_agents', '/operator/agents'),
  list('operator_webhooks', '/operator/webhooks'),
]

type Ids = (path: string, select?: (row: Row) => boolean) => Promise<string>
type Row = { id: string; name?: string; status?: string; type?: string; currency?: string }

/** Finds objects of an account by what they are, because the demo's IDs are new every time. */
const idsOf =
  (url: string, bearer: string): Ids =>
  async (path, select = () => true) => {
    const { body } = await send(url, 'GET', path, { bearer })
    const found = (body['data'] as Row[]).find(select)
    assert(found !== undefined, `${path} has none`)
    return found.id
  }

/** A page about one object, ready when it shows its heading. */
const detail = (name: string, path: string): PanelPage => list(name, path, 'main h1')

const clicking = (page: PanelPage, name: string, button: string | RegExp): PanelPage => ({
  ...page,
  name: `demo_${name}`,
  ready: async (shown) => {
    await page.ready(shown)
    await shown.getByRole('button', { name: button }).first().click()
    await loaded(shown)
  },
})

/** The panel's pages about one object, and its dialogs. */
export async function panelDetails(url: string, bearer: string): Promise<PanelPage[]> {
  const id = idsOf(url, bearer)
  const cardNamed = (name: string) => id('/v1/cards?limit=100', (card) => card.name === name)
  const card = detail('card', `/cards/${await cardNamed('Everyday')}`)
  const [transactions, withdrawals] = ['/transactions', '/withdrawals'].map((path) =>
    list(path.slice(1), path),
  ) as [PanelPage, PanelPage]
  const transaction = async (name: string, query: string, select?: (row: Row) => boolean) =>
    detail(name, `/transactions/${await id(`/v1/transactions?limit=100&${query}`, select)}`)
  const topup = async (status: string) =>
    detail(`topup_${status}`, `/topups/${await id(`/v1/topups?status=${status}`)}`)
  return [
    card,
    detail('card_agent', `/cards/${await cardNamed('Shopping agent')}`),
    detail('card_travel', `/cards/${await cardNamed('Travel')}`),
    detail('card_physical', `/cards/${await cardNamed('Wallet')}`),
    detail('card_frozen', `/cards/${await cardNamed('Old laptop shop')}`),
    detail('card_used', `/cards/${await cardNamed('Free trial')}`),
    detail('card_locked', `/cards/${await cardNamed('Gym')}`),
    clicking(card, 'card_reveal', /Show details|Reveal/),
    detail('issue_card', '/cards?issue'),
    await topup('awaiting'),
    await topup('completed'),
    await topup('cancelled'),
    clicking(transactions, 'purchase_events', /^Events of/),
    await transaction('capture', 'type=capture'),
    await transaction('decline', 'type=decline'),
    await transaction('refund', 'type=refund'),
    await transaction('foreign', 'type=authorization', ({ currency }) => currency === 'EUR'),
    detail('dispute_open', `/disputes/${await id('/v1/disputes?status=open')}`),
    detail('dispute_closed', `/disputes/${await id('/v1/disputes?status=closed')}`),
    clicking(withdrawals, 'withdraw', 'Withdraw'),
    detail('withdrawal', `/withdrawals/${await id('/v1/withdrawals?status=completed')}`),
    detail('withdrawal_failed', `/withdrawals/${await id('/v1/withdrawals?status=failed')}`),
    {
      name: 'demo_agent',
      path: '/agents',
      ready: async (page) => {
        await page.getByRole('link', { name: 'Shopper' }).first().click()
        await page.getByRole('heading', { name: 'Activity' }).waitFor()
        await loaded(page)
      },
    },
    detail('ticket', `/tickets/${await id('/v1/tickets')}`),
    detail('webhook', `/developers/webhooks/${await id('/v1/webhooks')}`),
    detail('requests', '/developers/requests?operation=issue_card'),
    detail('limits', '/developers/limits'),
    detail('settings', '/settings'),
  ]
}

/** The console's other pages, and its sheets and dialogs. */
export async function consoleDetails(url: string, token: string): Promise<PanelPage[]> {
  const account_id = await idsOf(url, token)('/operator/v1/accounts?email=demo@florin.example')
  const [disputes, tickets, clearings] = ['disputes', 'tickets', 'clearings'].map((name) =>
    list(name, `/operator/${name}`),
  ) as [PanelPage, PanelPage, PanelPage]
  return [
    detail('operator_overview', '/operator'),
    detail('operator_account', `/operator/accounts/${account_id}`),
    list('operator_transactions', `/operator/transactions?account_id=${account_id}`),
    clicking(disputes, 'operator_dispute', 'Threadbare Clothing'),
    clicking(tickets, 'operator_ticket', 'Hotel charged twice?'),
    clicking(clearings, 'operator_convert', /^Enter USD amount/),
    detail('operator_kill_switches', '/operator/kill_switches'),
    detail('operator_maintenance', '/operator/maintenance'),
    detail('operator_reconciliation', '/operator/reconciliation'),
    detail('operator_health', '/operator/health'),
  ]
}
