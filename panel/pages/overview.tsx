import { lazy, Suspense } from 'react'
import { Link } from 'wouter'
import type { Balance } from '#contract/balance.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { ArrowDownToLine, Plus, TriangleAlert } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { ErrorState, Skeleton } from '#panel/ui/states.tsx'
import { GetStarted } from './overview/get_started.tsx'
import { RecentActivity } from './overview/recent_activity.tsx'
import { YourCards } from './overview/your_cards.tsx'

const BalanceChart = lazy(() =>
  import('./overview/balance_chart.tsx').then(({ BalanceChart: chart }) => ({ default: chart })),
)

export function Overview() {
  const balance = useOperationQuery('get_balance', {})
  return (
    <>
      <PageHeader
        title="Overview"
        action={
          <>
            <Button asChild>
              <Link href="/cards?issue">
                <Plus /> Issue card
              </Link>
            </Button>
            <Button kind="main" asChild>
              <Link href="/topups">
                <ArrowDownToLine /> Top up
              </Link>
            </Button>
          </>
        }
      />
      <div className="space-y-4">
        <GetStarted />
        {balance.data !== undefined && balance.data.owed_usd > 0 ? (
          <Debt owed_usd={balance.data.owed_usd} />
        ) : (
          <LowBalance />
        )}
        <Section>
          {balance.data !== undefined ? (
            <BalanceFigures balance={balance.data} />
          ) : balance.error !== null ? (
            <ErrorState problem={balance.error} retry={() => void balance.refetch()} />
          ) : (
            <Skeleton className="h-14 w-56" />
          )}
          <Suspense fallback={<Skeleton className="mt-4 h-45" />}>
            <BalanceChart />
          </Suspense>
        </Section>
        <div className="grid gap-4 lg:grid-cols-2">
          <YourCards />
          <RecentActivity />
        </div>
      </div>
    </>
  )
}

function BalanceFigures({ balance }: { balance: Balance }) {
  const figures = [
    ['On cards', balance.cards_usd],
    ['Incoming', balance.pending_in_usd],
    ['Outgoing', balance.pending_out_usd],
    ['Total', balance.total_usd],
  ] as const
  return (
    <div className="flex flex-wrap items-end gap-x-10 gap-y-4">
      <div className="max-sm:w-full">
        <p className="text-soft">Balance</p>
        <p className="text-2xl font-semibold tracking-tight">
          <Money usd={balance.balance_usd} />
        </p>
      </div>
      <dl className="grid w-full grid-cols-2 gap-x-8 gap-y-2 sm:flex sm:w-auto">
        {figures.map(([name, usd]) => (
          <div key={name}>
            <dt className="text-sm text-soft">{name}</dt>
            <dd className="font-medium">
              <Money usd={usd} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

function Debt({ owed_usd }: { owed_usd: number }) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl bg-bad-ground px-4 py-3 text-bad"
    >
      <p className="mr-auto flex items-start gap-2.5">
        <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
        <span>
          You owe <Money usd={owed_usd} />. Money you add pays this first. Until then, purchases are
          declined, and you can’t load cards or withdraw.
        </span>
      </p>
      <Link href="/topups" className="font-medium underline underline-offset-2">
        Top up
      </Link>
    </div>
  )
}

function LowBalance() {
  const account = useOperationQuery('get_account', {}).data
  const threshold_usd = account?.notifications.low_balance_threshold_usd ?? null
  if (account === undefined || threshold_usd === null) return null
  if (account.balance_usd >= threshold_usd) return null
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl bg-warn-ground px-4 py-3 text-warn"
    >
      <p className="mr-auto flex items-start gap-2.5">
        <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
        <span>
          Your balance is below <Money usd={threshold_usd} />.
        </span>
      </p>
      <Link href="/topups" className="font-medium underline underline-offset-2">
        Top up
      </Link>
    </div>
  )
}
