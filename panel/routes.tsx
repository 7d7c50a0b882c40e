import { type ComponentType, lazy } from 'react'
import {
  Activity as ActivityIcon,
  ArrowDownToLine,
  ArrowUpFromLine,
  Bot,
  ChartColumn,
  CircleCheckBig,
  CodeXml,
  CreditCard,
  FileText,
  Gavel,
  LayoutDashboard,
  LifeBuoy,
  type LucideIcon,
  Receipt,
  Settings as SettingsIcon,
  ShieldCheck,
} from '#panel/ui/icons.ts'
import { Overview } from './pages/overview.tsx'
import { PendingApprovals } from './shell/pending_approvals.tsx'

export type PanelRoute = {
  path: string
  page: ComponentType<{ id: string }>
  /** Routes with a title appear in the navigation and the command palette, in this order. */
  title?: string
  icon?: LucideIcon
  /** Shown after the title in the navigation. */
  badge?: ComponentType
}

/** One chunk for all tabs, whichever is opened first. */
const Developers = lazy(() =>
  import('./pages/developers.tsx').then(({ Developers: page }) => ({ default: page })),
)

const Approvals = lazy(() =>
  import('./pages/approvals.tsx').then(({ Approvals: page }) => ({ default: page })),
)
const approvals_link = { title: 'Approvals', icon: CircleCheckBig, badge: PendingApprovals }

/**
 * Every page. The overview is in the main chunk; the others load on demand. The service serves
 * index.html by the first path segment: see PANEL_PAGES in doors/site/panel_files.ts.
 */
export const routes: readonly PanelRoute[] = [
  { path: '/', page: Overview, title: 'Overview', icon: LayoutDashboard },
  {
    path: '/cards',
    page: lazy(() => import('./pages/cards.tsx').then(({ Cards }) => ({ default: Cards }))),
    title: 'Cards',
    icon: CreditCard,
  },
  {
    path: '/cards/:id',
    page: lazy(() => import('./pages/card.tsx').then(({ CardPage }) => ({ default: CardPage }))),
  },
  {
    path: '/topups',
    page: lazy(() => import('./pages/topups.tsx').then(({ Topups }) => ({ default: Topups }))),
    title: 'Top-ups',
    icon: ArrowDownToLine,
  },
  {
    path: '/topups/:id',
    page: lazy(() => import('./pages/topup.tsx').then(({ TopupPage }) => ({ default: TopupPage }))),
  },
  {
    path: '/transactions',
    page: lazy(() =>
      import('./pages/transactions.tsx').then(({ Transactions }) => ({ default: Transactions })),
    ),
    title: 'Transactions',
    icon: Receipt,
  },
  {
    path: '/transactions/:id',
    page: lazy(() =>
      import('./pages/transaction.tsx').then(({ TransactionPage }) => ({
        default: TransactionPage,
      })),
    ),
  },
  {
    path: '/spending',
    page: lazy(() =>
      import('./pages/spending.tsx').then(({ SpendingPage }) => ({ default: SpendingPage })),
    ),
    title: 'Spending',
    icon: ChartColumn,
  },
  {
    path: '/statements',
    page: lazy(() =>
      import('./pages/statements.tsx').then(({ Statements }) => ({ default: Statements })),
    ),
    title: 'Statements',
    icon: FileText,
  },
  {
    path: '/disputes',
    page: lazy(() =>
      import('./pages/disputes.tsx').then(({ Disputes }) => ({ default: Disputes })),
    ),
    title: 'Disputes',
    icon: Gavel,
  },
  {
    path: '/disputes/:id',
    page: lazy(() =>
      import('./pages/dispute.tsx').then(({ DisputePage }) => ({ default: DisputePage })),
    ),
  },
  {
    path: '/withdrawals',
    page: lazy(() =>
      import('./pages/withdrawals.tsx').then(({ Withdrawals }) => ({ default: Withdrawals })),
    ),
    title: 'Withdrawals',
    icon: ArrowUpFromLine,
  },
  {
    path: '/withdrawals/:id',
    page: lazy(() =>
      import('./pages/withdrawal.tsx').then(({ WithdrawalPage }) => ({ default: WithdrawalPage })),
    ),
  },
  {
    path: '/activity',
    page: lazy(() =>
      import('./pages/activity.tsx').then(({ Activity }) => ({ default: Activity })),
    ),
    title: 'Activity',
    icon: ActivityIcon,
  },
  {
    path: '/agents',
    page: lazy(() => import('./pages/agents.tsx').then(({ Agents }) => ({ default: Agents }))),
    title: 'Agents',
    icon: Bot,
  },
  {
    path: '/agents/:id',
    page: lazy(() => import('./pages/agent.tsx').then(({ AgentPage }) => ({ default: AgentPage }))),
  },
  { path: '/approvals', page: Approvals, ...approvals_link },
  { path: '/approvals/:id', page: Approvals },
  {
    path: '/tickets',
    page: lazy(() => import('./pages/tickets.tsx').then(({ Tickets }) => ({ default: Tickets }))),
    title: 'Support',
    icon: LifeBuoy,
  },
  {
    path: '/tickets/:id',
    page: lazy(() =>
      import('./pages/ticket.tsx').then(({ TicketPage }) => ({ default: TicketPage })),
    ),
  },
  { path: '/developers', page: Developers, title: 'Developers', icon: CodeXml },
  { path: '/developers/:id', page: Developers },
  {
    path: '/developers/webhooks/:id',
    page: lazy(() =>
      import('./pages/webhook.tsx').then(({ WebhookPage }) => ({ default: WebhookPage })),
    ),
  },
  {
    path: '/inbox',
    page: lazy(() => import('./pages/inbox.tsx').then(({ Inbox }) => ({ default: Inbox }))),
  },
  {
    path: '/security',
    page: lazy(() =>
      import('./pages/security.tsx').then(({ Security }) => ({ default: Security })),
    ),
    title: 'Security',
    icon: ShieldCheck,
  },
  {
    path: '/settings',
    page: lazy(() =>
      import('./pages/settings.tsx').then(({ Settings }) => ({ default: Settings })),
    ),
    title: 'Settings',
    icon: SettingsIcon,
  },
]
