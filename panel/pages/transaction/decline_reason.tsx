import { Link } from 'wouter'
import { type DeclineCode, decline_messages } from '#contract/decline.ts'
import type { Transaction } from '#contract/transactions.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { CircleX } from '#panel/ui/icons.ts'
import { Time } from '#panel/ui/time.tsx'
import { usageSentence } from '#panel/words/card_usage.ts'
import { decline_advice } from '#panel/words/decline_advice.ts'

export function DeclineReason({ transaction }: { transaction: Transaction }) {
  const { decline_code, decline_message, failed_rules, card_id } = transaction
  const others = failed_rules.filter((code) => code !== decline_code)
  const advice = decline_advice[decline_code as DeclineCode]
  return (
    <section
      aria-label="Decline reason"
      className="flex gap-3 rounded-xl bg-bad-ground p-4 [&>svg]:mt-0.5 [&>svg]:size-5 [&>svg]:shrink-0"
    >
      <CircleX className="text-bad" aria-hidden />
      <div className="min-w-0 space-y-1">
        <p className="font-medium text-bad">{decline_message ?? decline_messages.do_not_honor}</p>
        <CardNote transaction={transaction} />
        {advice !== undefined && <p>{advice}</p>}
        {others.length > 0 && (
          <>
            <p className="pt-1">Other reasons this would have been declined:</p>
            <ul className="list-disc pl-5">
              {others.map((code) => (
                <li key={code}>{decline_messages[code as DeclineCode] ?? code}</li>
              ))}
            </ul>
          </>
        )}
        <p className="pt-1">
          <Link href={`/cards/${card_id}`} className="font-medium underline underline-offset-2">
            View card
          </Link>
        </p>
      </div>
    </section>
  )
}

const ABOUT_USAGE: ReadonlySet<string | null> = new Set(['merchant_blocked', 'card_expired'])

/** Names the merchant or the date that the card was made for. */
function CardNote({ transaction }: { transaction: Transaction }) {
  const { decline_code, card_id } = transaction
  if (!ABOUT_USAGE.has(decline_code)) return null
  return decline_code === 'card_expired' ? <ValidUntil id={card_id} /> : <UsageOf id={card_id} />
}

function UsageOf({ id }: { id: string }) {
  const card = useOperationQuery('get_card', { id }).data
  const sentence = card === undefined ? null : usageSentence(card)
  return sentence === null ? null : <p>{sentence}</p>
}

function ValidUntil({ id }: { id: string }) {
  const valid_until = useOperationQuery('get_card', { id }).data?.valid_until ?? null
  if (valid_until === null) return null
  return (
    <p>
      This card was valid until <Time at={valid_until} />.
    </p>
  )
}
