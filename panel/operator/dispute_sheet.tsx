import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import type { Dispute, Evidence } from '#contract/disputes.ts'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { Sheet } from '#panel/ui/dialog.tsx'
import { EvidencePieces } from '#panel/ui/evidence_pieces.tsx'
import { TextArea } from '#panel/ui/field.tsx'
import { Money } from '#panel/ui/money.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { DescriptionList } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { merchantName } from '#panel/words/merchant_name.ts'
import { AccountLink } from './account_link.tsx'
import { downloadOperatorFile, useOperatorMutation } from './operator_api.ts'
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
      title={merchantName(dispute)}
      description={<span className="whitespace-pre-wrap">{dispute.explanation}</span>}
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
          dispute.response !== null && [
            'Merchant response',
            <span key="response" className="whitespace-pre-wrap">
              {dispute.response.text}
            </span>,
          ],
        ]}
      />
      {dispute.evidence.length === 0 ? (
        <p className="mt-4 text-soft">No evidence submitted.</p>
      ) : (
        <EvidencePieces evidence={dispute.evidence} saveFile={saveFile} />
      )}
      {dispute.status !== 'closed' && <DecisionForm dispute={dispute} />}
    </Sheet>
  )
}

const saveFile = ({ dispute_id, id }: Evidence, file_name: string) =>
  downloadOperatorFile(`/disputes/${dispute_id}/evidence/${id}`, file_name)

type Outcome = 'won' | 'lost'

const outcomes: Record<Outcome, { label: string; effect: string }> = {
  won: { label: 'Customer wins', effect: 'The customer keeps the provisional credit of' },
  lost: { label: 'Customer loses', effect: 'The customer loses the provisional credit of' },
}

const invalidates = ['/disputes', '/accounts']
const textOf = (text: string) => (text.trim() === '' ? {} : { text: text.trim() })

function DecisionForm({ dispute }: { dispute: Dispute }) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<Outcome | null>(null)
  const answer = useOperatorMutation<void>({
    method: 'POST',
    path: () => `/disputes/${dispute.id}/answer`,
    body: () => textOf(text),
    invalidates,
    onSuccess: () => {
      setText('')
      toast('Dispute updated.')
    },
  })
  const recordResponse = (form: FormEvent) => {
    form.preventDefault()
    answer.mutate()
  }
  return (
    <form className="mt-5 space-y-3" onSubmit={recordResponse}>
      <TextArea
        label="Merchant response or decision note"
        maxLength={5_000}
        value={text}
        onChange={(change) => setText(change.target.value)}
      />
      <ProblemNote problem={answer.error} />
      <Button type="submit" busy={answer.isPending} disabled={text.trim() === ''}>
        Record response
      </Button>
      <div className="grid grid-cols-2 gap-2 border-t border-line pt-4">
        <Button kind="main" onClick={() => setChosen('won')}>
          {outcomes.won.label}
        </Button>
        <Button kind="danger" onClick={() => setChosen('lost')}>
          {outcomes.lost.label}
        </Button>
      </div>
      {chosen !== null && (
        <CloseQuestion
          dispute={dispute}
          outcome={chosen}
          text={text}
          onClose={() => setChosen(null)}
        />
      )}
    </form>
  )
}

type QuestionProps = { dispute: Dispute; outcome: Outcome; text: string; onClose(): void }

function CloseQuestion({ dispute, outcome, text, onClose }: QuestionProps) {
  const { label, effect } = outcomes[outcome]
  const close = useOperatorMutation<void>({
    method: 'POST',
    path: () => `/disputes/${dispute.id}/close`,
    body: () => ({ outcome, ...textOf(text) }),
    invalidates,
    onSuccess: () => {
      onClose()
      toast('Dispute updated.')
    },
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title="Close dispute?"
      confirm_label={label}
      danger={outcome === 'lost'}
      busy={close.isPending}
      problem={close.error}
      onConfirm={() => close.mutate()}
    >
      <p>
        {effect} <Money usd={dispute.provisional_credit_usd} />. You can’t undo a decision.
      </p>
    </ConfirmDialog>
  )
}
