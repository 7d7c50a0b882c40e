import type { SystemLimits } from '#contract/system.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { Badge } from '#panel/ui/badge.tsx'
import { formatBytes } from '#panel/ui/bytes.ts'
import { Meter } from '#panel/ui/meter.tsx'
import { formatUsd } from '#panel/ui/money.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, type DescriptionRow, Section } from '#panel/ui/section.tsx'

const count = new Intl.NumberFormat('en-US')

export function Limits() {
  const query = useOperationQuery('get_limits', {})
  return (
    <QueryBoundary query={query}>
      {(limits) => (
        <div className="grid items-start gap-4 lg:grid-cols-2">
          <div className="min-w-0 space-y-4">
            <RateLimits limits={limits.rate_limits} />
            <Section title="Session scopes">
              <ul className="flex flex-wrap gap-1.5">
                {limits.scopes.map((scope) => (
                  <li key={scope}>
                    <Badge>{scope}</Badge>
                  </li>
                ))}
              </ul>
            </Section>
          </div>
          <Section title="Account limits">
            <WithdrawalUsage limits={limits.spend_limits} />
            <DescriptionList rows={limitRows(limits.spend_limits)} />
          </Section>
        </div>
      )}
    </QueryBoundary>
  )
}

function RateLimits({ limits }: { limits: SystemLimits['rate_limits'] }) {
  const used = limits.sustained_per_minute - limits.remaining
  const all = count.format(limits.sustained_per_minute)
  const text = `${count.format(used)} of ${all} requests used this minute`
  return (
    <Section title="API rate limits">
      <p className="num mb-2 text-soft">{text}</p>
      <Meter
        label="Requests this minute"
        value={used}
        max={limits.sustained_per_minute}
        text={text}
      />
      <div className="mt-2">
        <DescriptionList
          rows={[
            ['Requests per second', count.format(limits.burst_per_second)],
            ['Requests per minute', count.format(limits.sustained_per_minute)],
            ['Maximum request size', formatBytes(limits.max_body_bytes)],
            ['Maximum evidence file size', formatBytes(limits.max_evidence_bytes)],
          ]}
        />
      </div>
    </Section>
  )
}

function WithdrawalUsage({ limits }: { limits: SystemLimits['spend_limits'] }) {
  const { withdrawal_used_today_usd: used, withdrawal_daily_usd: max } = limits
  const text = `${formatUsd(used)} of ${formatUsd(max)} withdrawn today`
  return (
    <div className="mb-2">
      <p className="num mb-2 text-soft">{text}</p>
      <Meter label="Withdrawn today" value={used} max={max} text={text} />
    </div>
  )
}

function limitRows(limits: SystemLimits['spend_limits']): DescriptionRow[] {
  const between = (min: number, max: number) => `${formatUsd(min)} to ${formatUsd(max)}`
  return [
    ['Minimum deposit', formatUsd(limits.deposit_min_usd)],
    ['Top-up amount', between(limits.topup_min_usd, limits.topup_max_usd)],
    ['Load amount', between(limits.load_min_usd, limits.load_max_usd)],
    ['Maximum card balance', formatUsd(limits.card_balance_max_usd)],
    ['Maximum cards', count.format(limits.cards_max)],
    ['Maximum purchase', formatUsd(limits.per_transaction_max_usd)],
    ['Maximum daily spend per card', formatUsd(limits.daily_max_usd)],
    ['Maximum monthly spend per card', formatUsd(limits.monthly_max_usd)],
    ['Withdrawal amount', between(limits.withdrawal_min_usd, limits.withdrawal_max_usd)],
    ['Withdrawal fee', formatUsd(limits.withdrawal_fee_usd)],
  ]
}
