import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { FlorinError } from '#client/client.ts'
import { useCodeRequired, withoutCodeDemand } from '#panel/pages/security/code_required.ts'
import { useOperationMutation, useOperationQuery } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { Dialog, DialogActions } from '#panel/ui/dialog.tsx'
import { Field, MoneyField } from '#panel/ui/field.tsx'
import { formatUsd, Money, parseUsd } from '#panel/ui/money.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { DescriptionList } from '#panel/ui/section.tsx'
import { toast } from '#panel/ui/toast.tsx'

/** The fields of the first step, which shows what the service refuses about them. */
const first_fields = ['amount_usd', 'address']

const isAbout = (fields: readonly string[], problem: FlorinError) =>
  fields.some((field) => fieldError(problem, field) !== undefined)

type WithdrawalDraft = { amount: string; address: string; code: string }

/** Has a review step, because a transfer to a wrong address cannot be reversed. */
export function WithdrawForm({ onClose }: { onClose(): void }) {
  const [, navigate] = useLocation()
  const [draft, setDraft] = useState<WithdrawalDraft>({ amount: '', address: '', code: '' })
  const [is_review, setReview] = useState(false)
  const withdraw = useOperationMutation('withdraw', {
    onSuccess: ({ id }) => {
      toast('Withdrawal submitted.')
      navigate(`/withdrawals/${id}`)
    },
    onError: (problem) => {
      if (isAbout(first_fields, problem)) setReview(false)
    },
  })
  const [refusal, setRefusal] = useState<FlorinError | null>(null)
  const requireAmount = useAmountCheck()
  const has_code = useCodeRequired(withdraw.error)
  const problem = refusal ?? withoutCodeDemand(withdraw.error)
  const amount_usd = parseUsd(draft.amount) ?? 0
  const submit = (form: FormEvent) => {
    form.preventDefault()
    if (!is_review) {
      const refused = requireAmount(amount_usd)
      withdraw.reset()
      setRefusal(refused)
      return setReview(refused === null)
    }
    const code = has_code ? { totp_code: draft.code.trim() } : {}
    withdraw.mutate({ amount_usd, address: draft.address.trim(), ...code })
  }
  const goBack = () => {
    withdraw.reset()
    setReview(false)
  }
  const change = (changed: Partial<WithdrawalDraft>) => {
    setRefusal(null)
    setDraft({ ...draft, ...changed })
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={is_review ? 'Review withdrawal' : 'Withdraw'}
      description={
        is_review ? 'Check the address. You can’t reverse a transfer.' : 'Send USDT on TRON.'
      }
    >
      <form onSubmit={submit} className="space-y-4">
        {is_review ? (
          <ReviewStep draft={draft} has_code={has_code} change={change} problem={problem} />
        ) : (
          <AmountStep draft={draft} change={change} problem={problem} />
        )}
        <ProblemNote problem={problem} fields={is_review ? ['totp_code'] : first_fields} />
        <DialogActions>
          <Button onClick={is_review ? goBack : onClose}>{is_review ? 'Back' : 'Cancel'}</Button>
          <Button type="submit" kind="main" busy={withdraw.isPending}>
            {is_review ? `Send ${formatUsd(amount_usd)}` : 'Continue'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

/**
 * Refuses an amount that the service would refuse, before the review: afterwards it would also use
 * up the authentication code. The service judges amounts while the limits are still loading.
 */
function useAmountCheck(): (amount_usd: number) => FlorinError | null {
  const balance_usd = useOperationQuery('get_balance', {}).data?.balance_usd
  const limits = useOperationQuery('get_limits', {}).data?.spend_limits
  const sentenceFor = (amount_usd: number) => {
    if (limits !== undefined) {
      const { withdrawal_min_usd: least, withdrawal_max_usd: most } = limits
      if (amount_usd < least || amount_usd > most)
        return `A withdrawal must be between ${formatUsd(least)} and ${formatUsd(most)}.`
    }
    if (balance_usd !== undefined && amount_usd > balance_usd) return 'Your balance is too low.'
    return null
  }
  return (amount_usd) => {
    const message = sentenceFor(amount_usd)
    return message === null ? null : new FlorinError({ code: 'insufficient_balance', message })
  }
}

type StepProps = {
  draft: WithdrawalDraft
  change(changed: Partial<WithdrawalDraft>): void
  problem: FlorinError | null
}

function AmountStep({ draft, change, problem }: StepProps) {
  const balance_usd = useOperationQuery('get_balance', {}).data?.balance_usd
  const limits = useOperationQuery('get_limits', {}).data?.spend_limits
  const amount_usd = parseUsd(draft.amount)
  return (
    <>
      <MoneyField
        label="Amount"
        required
        value={draft.amount}
        onChange={({ target }) => change({ amount: target.value })}
        keeps_hint
        error={fieldError(problem, 'amount_usd')}
        hint={
          balance_usd !== undefined && (
            <>
              <Money usd={balance_usd} /> available{' '}
              <button
                type="button"
                className="font-medium text-accent underline underline-offset-2"
                onClick={() => change({ amount: String(balance_usd) })}
              >
                Withdraw all
              </button>
            </>
          )
        }
      />
      <Field
        label="Wallet address"
        required
        autoComplete="off"
        spellCheck={false}
        placeholder="T…"
        value={draft.address}
        onChange={({ target }) => change({ address: target.value })}
        error={fieldError(problem, 'address')}
      />
      {limits !== undefined && (
        <DescriptionList
          rows={[
            ['Fee', <Money key="fee" usd={limits.withdrawal_fee_usd} />],
            ['You receive', <NetAmount key="net" amount_usd={amount_usd} limits={limits} />],
            [
              'Limit per withdrawal',
              `${formatUsd(limits.withdrawal_min_usd)} to ${formatUsd(limits.withdrawal_max_usd)}`,
            ],
            [
              'Remaining today',
              <Money
                key="left"
                usd={limits.withdrawal_daily_usd - limits.withdrawal_used_today_usd}
              />,
            ],
          ]}
        />
      )}
    </>
  )
}

type NetAmountProps = { amount_usd: number | null; limits: { withdrawal_fee_usd: number } }

function NetAmount({ amount_usd, limits: { withdrawal_fee_usd } }: NetAmountProps) {
  if (amount_usd === null || amount_usd <= withdrawal_fee_usd) return '–'
  return <Money usd={netAmount(amount_usd, withdrawal_fee_usd)} className="font-medium" />
}

/** For display; the service calculates in micro-dollars. */
const netAmount = (amount_usd: number, fee_usd: number) => Number((amount_usd - fee_usd).toFixed(6))

type ReviewStepProps = StepProps & { has_code: boolean }

function ReviewStep({ draft, has_code, change, problem }: ReviewStepProps) {
  const limits = useOperationQuery('get_limits', {}).data?.spend_limits
  const amount_usd = parseUsd(draft.amount) ?? 0
  return (
    <>
      <DescriptionList
        rows={[
          ['Amount', <Money key="amount" usd={amount_usd} />],
          limits !== undefined && ['Fee', <Money key="fee" usd={limits.withdrawal_fee_usd} />],
          limits !== undefined && [
            'You receive',
            <NetAmount key="net" amount_usd={amount_usd} limits={limits} />,
          ],
          ['Asset', 'USDT on TRON'],
          [
            'To',
            <code key="address" className="font-mono text-sm break-all">
              {draft.address.trim()}
            </code>,
          ],
        ]}
      />
      {has_code && (
        <Field
          label="Authentication code"
          hint="The 6-digit code from your authenticator app."
          autoComplete="one-time-code"
          inputMode="numeric"
          autoFocus
          required
          value={draft.code}
          onChange={({ target }) => change({ code: target.value })}
          error={fieldError(problem, 'totp_code')}
        />
      )}
    </>
  )
}
