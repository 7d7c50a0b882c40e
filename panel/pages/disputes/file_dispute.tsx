import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import type { FlorinError } from '#client/client.ts'
import type { Dispute } from '#contract/disputes.ts'
import type { Transaction } from '#contract/transactions.ts'
import { useOperationMutation } from '#panel/queries.ts'
import { Dialog, FormActions } from '#panel/ui/dialog.tsx'
import { MoneyField, Select, TextArea } from '#panel/ui/field.tsx'
import { formatUsd, parseUsd } from '#panel/ui/money.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { merchantName } from '#panel/words/merchant_name.ts'
import { reason_labels } from './reasons.ts'

type Props = { transaction: Transaction; onClose(): void }
type Draft = { reason: Dispute['reason']; amount: string; explanation: string }

export function FileDispute({ transaction, onClose }: Props) {
  const [, navigate] = useLocation()
  const [draft, setDraft] = useState<Draft>({
    reason: 'not_received',
    amount: '',
    explanation: '',
  })
  const file_dispute = useOperationMutation('file_dispute', {
    onSuccess: ({ id }) => {
      toast('Dispute submitted. Add evidence to support it.')
      navigate(`/disputes/${id}`)
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    const { reason, amount, explanation } = draft
    const amount_usd = parseUsd(amount)
    const disputed_amount = amount_usd === null ? {} : { amount_usd }
    file_dispute.mutate({ transaction_id: transaction.id, reason, explanation, ...disputed_amount })
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Dispute charge"
      description={`${merchantName(transaction)}, ${formatUsd(transaction.amount_usd)}`}
    >
      <form onSubmit={submit} className="space-y-4">
        <DisputeFields
          draft={draft}
          unrefunded_usd={transaction.amount_usd - transaction.refunded_usd}
          problem={file_dispute.error}
          onChange={(changed) => setDraft({ ...draft, ...changed })}
        />
        <p className="rounded-lg bg-hover px-3 py-2.5 text-sm text-soft">
          Ask the merchant for a refund first: you can’t withdraw a dispute. We credit the amount to
          your balance now and reverse it if you lose.
        </p>
        <ProblemNote
          problem={file_dispute.error}
          fields={['reason', 'amount_usd', 'explanation']}
        />
        <FormActions label="Submit dispute" busy={file_dispute.isPending} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

type FieldsProps = {
  draft: Draft
  unrefunded_usd: number
  problem: FlorinError | null
  onChange(changed: Partial<Draft>): void
}

function DisputeFields({ draft, unrefunded_usd, problem, onChange }: FieldsProps) {
  return (
    <>
      <Select
        label="Reason"
        value={draft.reason}
        onChange={({ target }) => onChange({ reason: target.value as Dispute['reason'] })}
        options={Object.entries(reason_labels)}
        error={fieldError(problem, 'reason')}
      />
      <MoneyField
        label="Disputed amount (optional)"
        placeholder={unrefunded_usd.toFixed(2)}
        hint="Leave empty to dispute the full unrefunded amount."
        value={draft.amount}
        onChange={({ target }) => onChange({ amount: target.value })}
        error={fieldError(problem, 'amount_usd')}
      />
      <TextArea
        label="What happened?"
        required
        maxLength={5000}
        placeholder="What you ordered, when, and what the merchant told you."
        value={draft.explanation}
        onChange={({ target }) => onChange({ explanation: target.value })}
        error={fieldError(problem, 'explanation')}
      />
    </>
  )
}
