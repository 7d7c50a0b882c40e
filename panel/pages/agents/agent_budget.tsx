import { type FormEvent, useState } from 'react'
import { agentName, type Grant, type GrantBudget, useSetBudget } from '#panel/grants.ts'
import { Button } from '#panel/ui/button.tsx'
import { Dialog, FormActions } from '#panel/ui/dialog.tsx'
import { MoneyField, Select } from '#panel/ui/field.tsx'
import { Meter } from '#panel/ui/meter.tsx'
import { formatUsd, parseUsd } from '#panel/ui/money.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'

const periods = [
  ['day', 'per day'],
  ['month', 'per month'],
  ['total', 'in total'],
] as const

const periodLabel = (period: GrantBudget['period']) =>
  periods.find(([value]) => value === period)?.[1]

/** The budget of an agent, with a button to change it. */
export function AgentBudget({ grant }: { grant: Grant }) {
  const [is_open, setOpen] = useState(false)
  const { budget } = grant
  return (
    <div className="mb-4">
      <div className="flex items-center justify-between gap-2">
        <p className="font-medium">
          {budget === null
            ? 'No limit'
            : `${formatUsd(budget.amount_usd)} ${periodLabel(budget.period)}`}
        </p>
        {grant.status === 'active' && (
          <Button size="small" onClick={() => setOpen(true)}>
            {budget === null ? 'Set budget' : 'Edit budget'}
            <span className="sr-only"> for {agentName(grant)}</span>
          </Button>
        )}
      </div>
      {budget !== null && <BudgetUsage budget={budget} />}
      <Dialog
        open={is_open}
        onOpenChange={setOpen}
        title={`Budget for ${agentName(grant)}`}
        description="What it can load onto cards and withdraw before it has to ask you."
      >
        <BudgetForm grant={grant} onDone={() => setOpen(false)} />
      </Dialog>
    </div>
  )
}

function BudgetUsage({ budget }: { budget: GrantBudget }) {
  const { amount_usd, used_usd, resets_at, ask_above_usd } = budget
  const text = `${formatUsd(used_usd)} of ${formatUsd(amount_usd)} used`
  return (
    <>
      <div className="mt-2">
        <Meter
          label="Budget used"
          value={Math.min(used_usd, amount_usd)}
          max={amount_usd}
          text={text}
        />
      </div>
      <p className="mt-1.5 text-xs text-soft">
        {text}
        {resets_at !== null && (
          <>
            {' · Resets '}
            <Time at={resets_at} />
          </>
        )}
        {ask_above_usd !== null && ` · Asks above ${formatUsd(ask_above_usd)}`}
      </p>
    </>
  )
}

const NO_AMOUNT = 'Enter an amount, or clear “Ask me above”.'

function BudgetForm({ grant, onDone }: { grant: Grant; onDone(): void }) {
  const { budget } = grant
  const [refusal, setRefusal] = useState<string>()
  const set_budget = useSetBudget(() => {
    toast('Budget saved.')
    onDone()
  })
  const submit = (form: FormEvent<HTMLFormElement>) => {
    form.preventDefault()
    const given = new FormData(form.currentTarget)
    const amount_usd = parseUsd(String(given.get('amount_usd') ?? ''))
    const ask_above_usd = parseUsd(String(given.get('ask_above_usd') ?? ''))
    const period = String(given.get('period')) as GrantBudget['period']
    // An owner who wants to be asked must not end up with an agent that never asks.
    const lacks_amount = amount_usd === null && ask_above_usd !== null
    setRefusal(lacks_amount ? NO_AMOUNT : undefined)
    if (lacks_amount) return
    const chosen =
      amount_usd === null
        ? null
        : { amount_usd, period, ...(ask_above_usd !== null && { ask_above_usd }) }
    set_budget.mutate({ id: grant.id, budget: chosen })
  }
  return (
    <form onSubmit={submit} className="space-y-4">
      <MoneyField
        label="Amount"
        name="amount_usd"
        placeholder="No limit"
        hint="Leave it empty for no limit: the agent never has to ask you."
        error={refusal ?? fieldError(set_budget.error, 'amount_usd')}
        defaultValue={budget?.amount_usd ?? ''}
      />
      <Select
        label="Period"
        name="period"
        options={periods}
        defaultValue={budget?.period ?? 'day'}
      />
      <MoneyField
        label="Ask me above (optional)"
        name="ask_above_usd"
        placeholder="Don’t ask"
        hint="A single amount above this needs your approval, even within the budget."
        defaultValue={budget?.ask_above_usd ?? ''}
        error={fieldError(set_budget.error, 'ask_above_usd')}
      />
      <ProblemNote problem={set_budget.error} fields={['amount_usd', 'ask_above_usd']} />
      <FormActions label="Save" busy={set_budget.isPending} onCancel={onDone} />
    </form>
  )
}
