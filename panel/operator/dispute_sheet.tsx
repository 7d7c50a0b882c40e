import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import type { Dispute } from '#contract/disputes.ts'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { formatBytes } from '#panel/ui/bytes.ts'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { Sheet } from '#panel/ui/dialog.tsx'
import { TextArea } from '#panel/ui/field.tsx'
import { Money } from '#panel/ui/money.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { DescriptionList } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { AccountLink } from './account_link.tsx'
import { useOperatorMutation } from './operator_api.ts'
import type { WithAccount } from './shapes.ts'

type Props = {
  dispute: WithAccount<Dispute> & { merchant_name: string }
  onClose(): void
}

const transactionHref = ({ account_id, transaction_id }: Props['dispute']) =>
  `/transactions?${new URLSearchParams({ account_id, transaction_id })}`

export function DisputeSheet({ dispute, onClose }: Props) {
  return (
    <Sheet
      open
      onOpenChange={onClose}
      title={dispute.merchant_name}
      description={dispute.explanation}
    >
      <DescriptionList
        rows={[
          ['Reason', humanize(dispute.reason)],
          ['Status', <Status key="status" of={dispute.outcome ?? dispute.status} />],
          ['Disputed amount', <Money key="amount" usd={dispute.amount_usd} />],
          ['Provisional credit', <Money key="credit" usd={dispute.provisional_credit_usd} />],
          dispute.closed_by !== null && ['Closed by', humanize(dispute.closed_by)],
          ['Dispute ID', <Copyable key="id" text={dispute.id} label="Copy dispute ID" />],
          ['Customer', <AccountLink key="customer" of={dispute} />],
          [
            'Transaction',
            <Link key="purchase" href={transactionHref(dispute)} className="text-accent underline">
              View transaction
            </Link>,
          ],
          ['Evidence due', <Time key="due" at={dispute.evidence_due_at} />],
          dispute.response !== null && ['Merchant response', dispute.response.text],
        ]}
      />
      <Evidence dispute={dispute} />
      {dispute.status !== 'closed' && <DecisionForm dispute={dispute} />}
    </Sheet>
  )
}

function Evidence({ dispute: { evidence } }: { dispute: Dispute }) {
  if (evidence.length === 0) return <p className="mt-4 text-soft">No evidence submitted.</p>
  return (
    <ul aria-label="Evidence" className="mt-4 divide-y divide-line">
      {evidence.map((piece) => (
        <li key={piece.id} className="flex items-baseline justify-between gap-3 py-2">
          <span className="min-w-0 break-words">{piece.note ?? piece.file_name ?? piece.id}</span>
          {piece.size_bytes !== null && (
            <span className="num shrink-0 text-sm text-soft">{formatBytes(piece.size_bytes)}</span>
          )}
        </li>
      ))}
    </ul>
  )
}

type Outcome = 'won' | 'lost'
type DisputeDecision = { kind: 'answer' } | { kind: 'close'; outcome: Outcome }

const decisions: Record<Outcome, { label: string; effect: string }> = {
  won: { label: 'Customer wins', effect: 'The customer keeps the provisional credit of' },
  lost: { label: 'Customer loses', effect: 'The customer loses the provisional credit of' },
}

function DecisionForm({ dispute }: { dispute: Dispute }) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<Outcome | null>(null)
  const mutation = useOperatorMutation<DisputeDecision>({
    method: 'POST',
    path: ({ kind }) => `/disputes/${dispute.id}/${kind}`,
    body: (decision) => ({
      ...(decision.kind === 'close' && { outcome: decision.outcome }),
      ...(text.trim() !== '' && { text: text.trim() }),
    }),
    invalidates: ['/disputes'],
    onSuccess: () => {
      setText('')
      setChosen(null)
      toast('Dispute updated.')
    },
  })
  const recordResponse = (form: FormEvent) => {
    form.preventDefault()
    mutation.mutate({ kind: 'answer' })
  }
  return (
    <form className="mt-5 space-y-3" onSubmit={recordResponse}>
      <TextArea
        label="Merchant response or decision note"
        maxLength={5_000}
        value={text}
        onChange={(change) => setText(change.target.value)}
      />
      {/* An open question shows the error itself. */}
      <ProblemNote problem={chosen === null ? mutation.error : null} />
      <Button type="submit" busy={mutation.isPending} disabled={text.trim() === ''}>
        Record response
      </Button>
      <div className="grid grid-cols-2 gap-2 border-t border-line pt-4">
        <Button kind="main" onClick={() => setChosen('won')}>
          {decisions.won.label}
        </Button>
        <Button kind="danger" onClick={() => setChosen('lost')}>
          {decisions.lost.label}
        </Button>
      </div>
      {chosen !== null && (
        <ConfirmDialog
          open
          onOpenChange={() => setChosen(null)}
          title="Close dispute?"
          confirm_label={decisions[chosen].label}
          danger={chosen === 'lost'}
          busy={mutation.isPending}
          problem={mutation.error}
          onConfirm={() => mutation.mutate({ kind: 'close', outcome: chosen })}
        >
          <p>
            {decisions[chosen].effect} <Money usd={dispute.provisional_credit_usd} />. You can’t
            undo a decision.
          </p>
        </ConfirmDialog>
      )}
    </form>
  )
}
