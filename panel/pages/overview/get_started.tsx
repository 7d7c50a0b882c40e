import { Link } from 'wouter'
import { useOperationQuery } from '#panel/queries.ts'
import { classes } from '#panel/ui/classes.ts'
import { Check } from '#panel/ui/icons.ts'
import { Section } from '#panel/ui/section.tsx'

const live_notes = {
  add_money: 'Send USDT to your deposit address.',
  make_purchase: 'Reveal the card number and pay anywhere cards are accepted.',
}
/** The sandbox has no real deposits or merchants; the Simulate button replaces both. */
const sandbox_notes = {
  add_money: 'Create a top-up, then simulate the deposit.',
  make_purchase: 'Simulate a purchase with your card.',
}

/** Shown until the account has been funded, has a card and has made a purchase. */
export function GetStarted() {
  const changes = useOperationQuery('get_balance_history', { limit: 1 }).data
  const cards = useOperationQuery('list_cards', { limit: 1 }).data
  const purchases = useOperationQuery('list_transactions', { limit: 1, type: 'authorization' }).data
  const account = useOperationQuery('get_account', {}).data
  if (changes === undefined || cards === undefined || purchases === undefined) return null
  if (account === undefined) return null
  const notes = account.livemode ? live_notes : sandbox_notes
  const steps = [
    {
      title: 'Add money',
      note: notes.add_money,
      href: '/topups',
      is_done: changes.data.length > 0,
    },
    {
      title: 'Issue a card',
      note: 'Virtual cards are ready immediately.',
      href: '/cards?issue',
      is_done: cards.data.length > 0,
    },
    {
      title: 'Make a purchase',
      note: notes.make_purchase,
      href: cards.data[0] === undefined ? '/cards' : `/cards/${cards.data[0].id}`,
      is_done: purchases.data.length > 0,
    },
  ]
  const next = steps.findIndex(({ is_done }) => !is_done)
  if (next === -1) return null
  return (
    <Section title="Get started">
      <ol className="grid gap-3 md:grid-cols-3">
        {steps.map((step, at) => (
          <Step key={step.title} step={step} number={at + 1} is_next={at === next} />
        ))}
      </ol>
    </Section>
  )
}

type StepProps = {
  step: { title: string; note: string; href: string; is_done: boolean }
  number: number
  is_next: boolean
}

function Step({ step, number, is_next }: StepProps) {
  return (
    <li>
      <Link
        href={step.href}
        className={classes(
          'flex h-full gap-3 rounded-lg border border-line p-3 hover:bg-hover',
          is_next && 'border-accent',
        )}
      >
        <span
          className={classes(
            'num grid size-6 shrink-0 place-items-center rounded-full border border-line text-sm text-soft',
            is_next && 'border-accent text-accent',
            step.is_done && 'border-transparent bg-good-ground text-good',
          )}
        >
          {step.is_done ? <Check className="size-4" aria-label="Done" /> : number}
        </span>
        <span>
          <span className={classes('block font-medium', step.is_done && 'text-soft')}>
            {step.title}
          </span>
          <span className="block text-sm text-soft">{step.note}</span>
        </span>
      </Link>
    </li>
  )
}
