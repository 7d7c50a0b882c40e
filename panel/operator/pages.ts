import type { ComponentType } from 'react'
import {
  Activity,
  Banknote,
  Bot,
  ChartLine,
  Coins,
  CreditCard,
  Gavel,
  HandCoins,
  LifeBuoy,
  type LucideIcon,
  OctagonX,
  Receipt,
  Scale,
  Undo2,
  Users,
  Webhook,
  Wrench,
} from '#panel/ui/icons.ts'
import { Accounts } from './accounts.tsx'
import { Agents } from './agents.tsx'
import { Cards } from './cards.tsx'
import { Clearings } from './clearings.tsx'
import { Disputes } from './disputes.tsx'
import { Health } from './health.tsx'
import { HeldRefunds } from './held_refunds.tsx'
import { KillSwitches } from './kill_switches.tsx'
import { MaintenancePage } from './maintenance.tsx'
import { Overview } from './overview.tsx'
import { Reconciliation } from './reconciliation.tsx'
import { Suspense } from './suspense.tsx'
import { Tickets } from './tickets.tsx'
import { Transactions } from './transactions.tsx'
import { Webhooks } from './webhooks.tsx'
import { Withdrawals } from './withdrawals.tsx'

export type ConsolePage = {
  path: string
  title: string
  icon: LucideIcon
  component: ComponentType
}

/** Work queues come first, then search, then settings and status of the program. */
export const pages: readonly ConsolePage[] = [
  { path: '/', title: 'Overview', icon: ChartLine, component: Overview },
  { path: '/disputes', title: 'Disputes', icon: Gavel, component: Disputes },
  { path: '/tickets', title: 'Tickets', icon: LifeBuoy, component: Tickets },
  { path: '/withdrawals', title: 'Withdrawals', icon: Banknote, component: Withdrawals },
  { path: '/suspense', title: 'Suspense', icon: HandCoins, component: Suspense },
  { path: '/clearings', title: 'Clearings', icon: Coins, component: Clearings },
  { path: '/refunds', title: 'Refunds', icon: Undo2, component: HeldRefunds },
  { path: '/accounts', title: 'Accounts', icon: Users, component: Accounts },
  { path: '/cards', title: 'Cards', icon: CreditCard, component: Cards },
  { path: '/transactions', title: 'Transactions', icon: Receipt, component: Transactions },
  { path: '/agents', title: 'Agents', icon: Bot, component: Agents },
  { path: '/webhooks', title: 'Webhooks', icon: Webhook, component: Webhooks },
  { path: '/kill_switches', title: 'Kill switches', icon: OctagonX, component: KillSwitches },
  { path: '/maintenance', title: 'Maintenance', icon: Wrench, component: MaintenancePage },
  { path: '/reconciliation', title: 'Reconciliation', icon: Scale, component: Reconciliation },
  { path: '/health', title: 'Health', icon: Activity, component: Health },
]
