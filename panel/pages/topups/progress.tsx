import type { Topup } from '#contract/topups.ts'
import { classes } from '#panel/ui/classes.ts'
import { Check } from '#panel/ui/icons.ts'
import { Meter } from '#panel/ui/meter.tsx'
import { isOnHold } from './topup_status.tsx'

const steps = ['awaiting', 'confirming', 'completed'] as const
const step_labels: Record<(typeof steps)[number], { to_do: string; done: string }> = {
  awaiting: { to_do: 'Waiting for your transfer', done: 'Transfer received' },
  confirming: { to_do: 'Confirming', done: 'Confirmed' },
  completed: { to_do: 'Added to your balance', done: 'Added to your balance' },
}

/** Announced to screen readers as it changes. */
export function TopupProgress({ topup }: { topup: Topup }) {
  const at = steps.indexOf(topup.status as (typeof steps)[number])
  if (isOnHold(topup)) return <p className="text-soft">Your transfer arrived. It’s on hold.</p>
  if (at === -1) return <p className="text-soft">This top-up has ended.</p>
  return (
    <ol className="space-y-3" aria-live="polite">
      {steps.map((step, index) => {
        const is_done = index < at || topup.status === 'completed'
        return (
          <li
            key={step}
            className="flex gap-3"
            aria-current={index === at && !is_done ? 'step' : undefined}
          >
            <span
              className={classes(
                'mt-0.5 grid size-5 shrink-0 place-items-center rounded-full border border-line-strong/60',
                index === at && 'border-accent',
                is_done && 'border-transparent bg-good-ground text-good',
              )}
            >
              {is_done && <Check className="size-3.5" aria-label="Done" />}
              {index === at && !is_done && <span className="size-2 rounded-full bg-accent" />}
            </span>
            <div className="min-w-0 flex-1">
              <p className={index > at ? 'text-soft' : 'font-medium'}>
                {step_labels[step][is_done ? 'done' : 'to_do']}
                {step === 'confirming' && at >= 1 && <ConfirmationsCount topup={topup} />}
              </p>
              {step === 'confirming' && index === at && <ConfirmationsMeter topup={topup} />}
            </div>
          </li>
        )
      })}
    </ol>
  )
}

const formatConfirmations = ({ confirmations, required_confirmations }: Topup) =>
  `${Math.min(confirmations, required_confirmations)}/${required_confirmations}`

function ConfirmationsCount({ topup }: { topup: Topup }) {
  return <span className="num text-soft"> {formatConfirmations(topup)}</span>
}

function ConfirmationsMeter({ topup }: { topup: Topup }) {
  const { confirmations, required_confirmations } = topup
  return (
    <div className="mt-2">
      <Meter
        label="Confirmations"
        value={Math.min(confirmations, required_confirmations)}
        max={required_confirmations}
        text={formatConfirmations(topup)}
        tone="accent"
      />
    </div>
  )
}
