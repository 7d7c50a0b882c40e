import { CircleX } from 'lucide-react'
import { Link } from 'wouter'
import { type DeclineCode, decline_messages } from '#contract/decline.ts'
import type { Transaction } from '#contract/transactions.ts'
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
          </Link>{' '}
          <code className="ml-1 font-mono text-xs">{decline_code}</code>
        </p>
      </div>
    </section>
  )
}
