import { type FormEvent, useState } from 'react'
import type { Card } from '#contract/cards.ts'
import { useOperationMutation, useOperationQuery } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { cardTitle } from '#panel/ui/card_face.tsx'
import { Dialog, FormActions } from '#panel/ui/dialog.tsx'
import { MoneyField } from '#panel/ui/field.tsx'
import { ArrowDownLeft, ArrowUpRight } from '#panel/ui/icons.ts'
import { formatUsd, parseUsd } from '#panel/ui/money.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { toast } from '#panel/ui/toast.tsx'

export function MoveMoney({ card }: { card: Card }) {
  const [open_dialog, setOpenDialog] = useState<'load' | 'unload' | null>(null)
  const close = () => setOpenDialog(null)
  return (
    <div className="grid grid-cols-2 gap-2">
      <Button
        kind="main"
        disabled={card.status === 'cancelled'}
        onClick={() => setOpenDialog('load')}
      >
        <ArrowDownLeft /> Load
      </Button>
      <Button disabled={card.balance_usd <= 0} onClick={() => setOpenDialog('unload')}>
        <ArrowUpRight /> Unload
      </Button>
      <Dialog
        open={open_dialog === 'load'}
        onOpenChange={close}
        title="Load card"
        description={`Move money from your balance to ${cardTitle(card)}.`}
      >
        <Load card={card} onDone={close} />
      </Dialog>
      <Dialog
        open={open_dialog === 'unload'}
        onOpenChange={close}
        title="Unload card"
        description={`Move money from ${cardTitle(card)} to your balance.`}
      >
        <Unload card={card} onDone={close} />
      </Dialog>
    </div>
  )
}

type FormProps = { card: Card; onDone(): void }

function Load({ card, onDone }: FormProps) {
  const balance_usd = useOperationQuery('get_balance', {}).data?.balance_usd
  const [amount, setAmount] = useState('')
  const load_card = useOperationMutation('load_card', {
    onSuccess: ({ amount_usd }) => {
      toast(`${formatUsd(amount_usd)} loaded to ${cardTitle(card)}.`)
      onDone()
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    load_card.mutate({ id: card.id, amount_usd: parseUsd(amount) ?? 0 })
  }
  return (
    <form onSubmit={submit}>
      <MoneyField
        label="Amount"
        required
        value={amount}
        onChange={(change) => setAmount(change.target.value)}
        hint={balance_usd !== undefined && `${formatUsd(balance_usd)} available`}
        error={fieldError(load_card.error, 'amount_usd')}
        keeps_hint
      />
      <ProblemNote problem={load_card.error} fields={['amount_usd']} />
      <FormActions label="Load" busy={load_card.isPending} onCancel={onDone} />
    </form>
  )
}

function Unload({ card, onDone }: FormProps) {
  const [amount, setAmount] = useState('')
  const unload_card = useOperationMutation('unload_card', {
    onSuccess: ({ amount_usd }) => {
      toast(`${formatUsd(amount_usd)} moved to your balance.`)
      onDone()
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    const amount_usd = parseUsd(amount) ?? 0
    // Without an amount the service unloads everything, even if a purchase has just changed it.
    const is_all = amount_usd === card.balance_usd
    unload_card.mutate({ id: card.id, ...(!is_all && { amount_usd }) })
  }
  return (
    <form onSubmit={submit}>
      <MoneyField
        label="Amount"
        required
        value={amount}
        onChange={(change) => setAmount(change.target.value)}
        hint={
          <>
            {formatUsd(card.balance_usd)} available{' '}
            <button
              type="button"
              className="font-medium text-accent underline underline-offset-2"
              onClick={() => setAmount(String(card.balance_usd))}
            >
              Unload all
            </button>
          </>
        }
        error={fieldError(unload_card.error, 'amount_usd')}
        keeps_hint
      />
      <ProblemNote problem={unload_card.error} fields={['amount_usd']} />
      <FormActions label="Unload" busy={unload_card.isPending} onCancel={onDone} />
    </form>
  )
}
