import { type FormEvent, useState } from 'react'
import type { Notifications } from '#contract/accounts.ts'
import { useOperationMutation } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { MoneyField } from '#panel/ui/field.tsx'
import { parseUsd } from '#panel/ui/money.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { Section } from '#panel/ui/section.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { Toggle } from '#panel/ui/toggle.tsx'

type Flag = Exclude<keyof Notifications, 'low_balance_threshold_usd'>

const notification_labels: readonly (readonly [Flag, label: string, hint: string])[] = [
  ['topup_confirmed', 'Deposit credited', 'When a top-up reaches your balance.'],
  ['topup_expired', 'Top-up expired', 'When a deposit doesn’t arrive in time.'],
  ['transaction_authorized', 'Purchase approved', 'One email per purchase.'],
  ['transaction_declined', 'Purchase declined', 'Includes the reason.'],
  ['card_frozen', 'Card frozen', 'By you, an agent, or our support.'],
  ['dispute_updates', 'Dispute updates', 'Merchant responses and decisions.'],
  ['withdrawal_broadcasted', 'Withdrawal sent', 'When it’s on the blockchain.'],
  ['system_maintenance', 'Scheduled maintenance', 'When, and what is affected.'],
  [
    'security_alerts',
    'Security alerts',
    'Sign-ins, API keys, password, and two-factor changes. Always on.',
  ],
]

/** Each switch saves immediately; while it saves, it shows the new value. */
export function NotificationSettings({ notifications }: { notifications: Notifications }) {
  const update_account = useOperationMutation('update_account')
  const pending = update_account.isPending ? update_account.variables.notifications : undefined
  return (
    <Section title="Email notifications">
      <div className="divide-y divide-line">
        {notification_labels.map(([name, label, hint]) => (
          <Toggle
            key={name}
            label={label}
            {...(hint !== '' && { hint })}
            checked={pending?.[name] ?? notifications[name]}
            disabled={name === 'security_alerts'}
            onChange={(is_on) => update_account.mutate({ notifications: { [name]: is_on } })}
          />
        ))}
      </div>
      <ProblemNote problem={update_account.error} />
      <LowBalance threshold_usd={notifications.low_balance_threshold_usd} />
    </Section>
  )
}

const LOW_BALANCE = 'notifications.low_balance_threshold_usd'

function LowBalance({ threshold_usd }: { threshold_usd: number | null }) {
  const [amount, setAmount] = useState(threshold_usd === null ? '' : String(threshold_usd))
  const update_account = useOperationMutation('update_account', {
    onSuccess: () => toast('Low balance alert saved.'),
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    update_account.mutate({ notifications: { low_balance_threshold_usd: parseUsd(amount) } })
  }
  return (
    <form onSubmit={submit} className="mt-2 space-y-4 border-t border-line pt-4">
      <MoneyField
        label="Alert me when my balance is below"
        placeholder="No alert"
        value={amount}
        onChange={(change) => setAmount(change.target.value)}
        error={fieldError(update_account.error, LOW_BALANCE)}
      />
      <ProblemNote problem={update_account.error} fields={[LOW_BALANCE]} />
      <Button type="submit" busy={update_account.isPending}>
        Save
      </Button>
    </form>
  )
}
