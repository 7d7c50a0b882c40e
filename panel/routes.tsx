import { ArrowDownToLine, CreditCard, LayoutDashboard, type LucideIcon } from 'lucide-react'
import { type ComponentType, lazy } from 'react'
import { Overview } from './pages/overview.tsx'

export type PanelRoute = {
  path: string
  page: ComponentType<{ id: string }>
  /** Pages with a title stand in the navigation and in the command palette, in this order. */
  title?: string
  icon?: LucideIcon
}

/**
 * Every page. The first one is in the first script; the others come when they are visited. The
 * service answers a page's address by its first word: see PANEL_PAGES in doors/site/panel_files.ts.
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
    title: 'Top up',
    icon: ArrowDownToLine,
  },
  {
    path: '/topups/:id',
    page: lazy(() => import('./pages/topup.tsx').then(({ TopupPage }) => ({ default: TopupPage }))),
  },
]
