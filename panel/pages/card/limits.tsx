import { type FormEvent, useState } from 'react'
import type { Card } from '#contract/cards.ts'
import { useOperationMutation } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { Dialog, FormActions } from '#panel/ui/dialog.tsx'
import { MoneyField } from '#panel/ui/field.tsx'
import { Meter } from '#panel/ui/meter.tsx'
import { formatUsd, Money, parseUsd } from '#panel/ui/money.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'

export function Limits({ card }: { card: Card }) {
  const [is_open, setOpen] = useState(false)
  const { limits } = card
  const { spent } = limits
  return (
    <Section
      title="Spending limits"
      action={
        card.status !== 'cancelled' && (
          <Button size="small" aria-label="Edit spending limits" onClick={() => setOpen(true)}>
            Edit
          </Button>
        )
      }
    >
      <div className="grid gap-5 sm:grid-cols-3">
        <Limit name="Per purchase" max_usd={limits.per_transaction_usd} />
        <Limit
          name="Today"
          max_usd={limits.daily_usd}
          used={{ usd: spent.daily_usd, resets_at: spent.daily_resets_at }}
        />
        <Limit
          name="This month"
          max_usd={limits.monthly_usd}
          used={{ usd: spent.monthly_usd, resets_at: spent.monthly_resets_at }}
        />
      </div>
      <Dialog
        open={is_open}
        onOpenChange={setOpen}
        title="Spending limits"
        description="Leave a field empty for no limit. Enter 0 to block all purchases."
      >
        <LimitsForm card={card} onDone={() => setOpen(false)} />
      </Dialog>
    </Section>
  )
}

type LimitProps = {
  name: string
  max_usd: number | null
  used?: { usd: number; resets_at: string }
}

function Limit({ name, max_usd, used }: LimitProps) {
  const of = `of ${formatUsd(max_usd ?? 0)}`
  return (
    <div className="min-w-0">
      <p className="text-sm text-soft">{name}</p>
      <p className="mb-2 font-medium">
        {used === undefined ? (
          max_usd === null ? (
            'No limit'
          ) : (
            <Money usd={max_usd} />
          )
        ) : (
          <>
            <Money usd={used.usd} />
            <span className="num font-normal text-soft">
              {max_usd === null ? ', no limit' : ` ${of}`}
            </span>
          </>
        )}
      </p>
      {used !== undefined && max_usd !== null && (
        <>
          <Meter
            label={`Spent ${name.toLowerCase()}`}
            value={used.usd}
            max={max_usd}
            text={`${formatUsd(used.usd)} ${of}`}
          />
          <p className="mt-1.5 text-xs text-soft">
            Resets <Time at={used.resets_at} />
          </p>
        </>
      )}
    </div>
  )
}

const fields = [
  ['per_transaction_usd', 'Per purchase'],
  ['daily_usd', 'Daily'],
  ['monthly_usd', 'Monthly'],
] as const

function LimitsForm({ card, onDone }: { card: Card; onDone(): void }) {
  // The card is refetched while the form is open, but its fields show the limits from before.
  const [shown] = useState(card.limits)
  const set_card_limits = useOperationMutation('set_card_limits', {
    onSuccess: () => {
      toast('Spending limits saved.')
      onDone()
    },
  })
  const submit = (form: FormEvent<HTMLFormElement>) => {
    form.preventDefault()
    const given = new FormData(form.currentTarget)
    const limits = fields.map(([name]) => [name, parseUsd(String(given.get(name) ?? ''))] as const)
    // Only what was changed here: another tab or an agent may have changed the other limits.
    const changed = limits.filter(([name, usd]) => usd !== shown[name])
    if (changed.length === 0) return onDone()
    set_card_limits.mutate({ id: card.id, ...Object.fromEntries(changed) })
  }
  return (
    <form onSubmit={submit} className="space-y-4">
      {fields.map(([name, label]) => (
        <MoneyField
          key={name}
          label={label}
          name={name}
          placeholder="No limit"
          defaultValue={shown[name] ?? ''}
          error={fieldError(set_card_limits.error, name)}
        />
      ))}
      <ProblemNote problem={set_card_limits.error} fields={fields.map(([name]) => name)} />
      <FormActions label="Save" busy={set_card_limits.isPending} onCancel={onDone} />
    </form>
  )
}
