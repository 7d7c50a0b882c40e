import { type FormEvent, useState } from 'react'
import type { Notifications } from '#contract/accounts.ts'
import { queryClient, useOperationMutation } from '#panel/queries.ts'
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

export function NotificationSettings({ notifications }: { notifications: Notifications }) {
  return (
    <Section title="Email notifications">
      <div className="divide-y divide-line">
        {notification_labels.map(([name, label, hint]) => (
          <NotificationToggle key={name} {...{ name, label, hint }} is_on={notifications[name]} />
        ))}
      </div>
      <LowBalance threshold_usd={notifications.low_balance_threshold_usd} />
    </Section>
  )
}

type ToggleProps = { name: Flag; label: string; hint: string; is_on: boolean }

/**
 * Saves immediately; while it saves, it shows the new value. The saved account is shown without
 * waiting for the next query, because the switch would jump back until then. Each switch has its
 * own mutation, because one follows only its last call.
 */
function NotificationToggle({ name, label, hint, is_on }: ToggleProps) {
  const update_account = useOperationMutation('update_account', {
    onSuccess: (account) => queryClient.setQueryData(['get_account', {}], account),
  })
  const pending = update_account.isPending ? update_account.variables.notifications : undefined
  return (
    <div>
      <Toggle
        label={label}
        hint={hint}
        checked={pending?.[name] ?? is_on}
        disabled={name === 'security_alerts'}
        onChange={(checked) => update_account.mutate({ notifications: { [name]: checked } })}
      />
      <ProblemNote problem={update_account.error} />
    </div>
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
