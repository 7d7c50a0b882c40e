import type { ReactNode } from 'react'
import type { Card } from '#contract/cards.ts'
import { CalendarClock, Lock, Ticket } from '#panel/ui/icons.ts'
import { Section } from '#panel/ui/section.tsx'
import { Time, useNow } from '#panel/ui/time.tsx'
import { usageSentence } from '#panel/words/card_usage.ts'

/** Shown only for a card that is not for any number of purchases at any time. */
export function CardUsage({ card }: { card: Card }) {
  const sentence = usageSentence(card)
  const { valid_until } = card
  if (sentence === null && valid_until === null) return null
  return (
    <Section title="Usage">
      <ul className="space-y-2">
        {sentence !== null && (
          <Line icon={card.usage === 'single_use' ? <Ticket /> : <Lock />}>{sentence}</Line>
        )}
        {valid_until !== null && (
          <Line icon={<CalendarClock />}>
            <ValidUntil at={valid_until} />
          </Line>
        )}
      </ul>
    </Section>
  )
}

function Line({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <li className="flex gap-2.5 [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-soft">
      {icon}
      <span className="min-w-0 break-words">{children}</span>
    </li>
  )
}

function ValidUntil({ at }: { at: string }) {
  const is_over = useNow() > Date.parse(at)
  return (
    <>
      {is_over ? 'Purchases have been declined since ' : 'Valid until '}
      <Time at={at} />
    </>
  )
}
