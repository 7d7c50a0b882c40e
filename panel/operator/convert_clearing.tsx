import { type FormEvent, useState } from 'react'
import { Dialog, FormActions } from '#panel/ui/dialog.tsx'
import { MoneyField } from '#panel/ui/field.tsx'
import { parseUsd } from '#panel/ui/money.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { merchantText } from '#panel/words/merchant_name.ts'
import { useOperatorMutation } from './operator_api.ts'
import type { PendingConversion } from './shapes.ts'

type Props = { clearing: PendingConversion; amount: string; onClose(): void }

/** The amount can be set only once; a background task posts it to the card within seconds. */
export function ConvertClearing({ clearing, amount, onClose }: Props) {
  const [amount_text, setAmountText] = useState('')
  const mutation = useOperatorMutation<void>({
    method: 'POST',
    path: () => `/pending_conversions/${clearing.id}/convert`,
    body: () => ({ amount_usd: parseUsd(amount_text) }),
    invalidates: ['/pending_conversions'],
    onSuccess: () => {
      onClose()
      toast('USD amount saved. It posts to the card within seconds.')
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    mutation.mutate()
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`${amount} at ${merchantText(clearing)}`}
      description={`${descriptions[clearing.kind]} You can’t change it later.`}
    >
      <form onSubmit={submit}>
        <MoneyField
          label="USD amount"
          required
          hint={rateText(clearing, parseUsd(amount_text)) ?? 'The amount the network bills.'}
          value={amount_text}
          onChange={(change) => setAmountText(change.target.value)}
          error={fieldError(mutation.error, 'amount_usd')}
        />
        <ProblemNote problem={mutation.error} fields={['amount_usd']} />
        <FormActions label="Save" busy={mutation.isPending} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

const RATE_DIGITS = 4

const rate_format = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: RATE_DIGITS,
})

/** A misplaced decimal point shows in the rate, and the service knows no rates to compare with. */
function rateText(clearing: PendingConversion, usd: number | null): string | null {
  if (usd === null || clearing.amount === 0) return null
  return `That is ${rate_format.format(usd / clearing.amount)} per ${clearing.currency}.`
}

const descriptions: Record<PendingConversion['kind'], string> = {
  advise: 'The network approved this purchase for us. The amount is held on the card.',
  capture: 'The amount is debited from the card.',
  refund: 'The amount is credited to the card.',
}
