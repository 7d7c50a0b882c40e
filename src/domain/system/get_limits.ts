import { BODY_BYTES_MAX, EVIDENCE_BYTES_MAX } from '#contract/byte_limits.ts'
import { budgetOf } from '#domain/budgets/budget_of.ts'
import type { Handler } from '#domain/context/context.ts'
import { spendLimitsOf } from '#domain/risk/spend_limits.ts'
import { sumWithdrawnToday } from '#domain/withdrawals/withdrawal_store.ts'
import { usdFromMicros } from '#kernel/money.ts'

export const getLimits: Handler<'get_limits'> = async ({ tx, caller, settings, rate, clock }) => ({
  rate_limits: {
    burst_per_second: rate.burst_per_second,
    sustained_per_minute: rate.sustained_per_minute,
    remaining: rate.remaining,
    // Rate limits use the real time, even if the clock of the service was moved.
    resets_at: new Date(clock.wall().getTime() + rate.reset_ms).toISOString(),
    max_body_bytes: BODY_BYTES_MAX,
    max_evidence_bytes: EVIDENCE_BYTES_MAX,
  },
  spend_limits: {
    ...(await spendLimitsOf(tx, caller.account_id, settings)),
    withdrawal_used_today_usd: usdFromMicros(
      await sumWithdrawnToday(tx, caller.account_id, clock.now()),
    ),
  },
  scopes: [...caller.scopes],
  credential: {
    type: caller.kind,
    id: caller.id,
    card_ids: caller.card_ids === null ? null : [...caller.card_ids],
  },
  budget: await budgetOf(tx, caller, clock.now()),
  programme: { bins: settings.bins.map((bin) => ({ ...bin, types: [...bin.types] })) },
  prices: Object.fromEntries(
    [...settings.x402.prices].map(([name, price]) => [name, usdFromMicros(price)]),
  ),
})
