import { type ChangeEvent, type FormEvent, useState } from 'react'
import { Button } from '#panel/ui/button.tsx'
import { FormActions, Sheet } from '#panel/ui/dialog.tsx'
import { Field, MoneyField, Select } from '#panel/ui/field.tsx'
import { formatUsd, parseUsd } from '#panel/ui/money.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { limitName } from './limit_names.ts'
import { useOperatorMutation } from './operator_api.ts'
import type { OperatorAccount } from './shapes.ts'

type Props = { account: OperatorAccount }

/** Overrides of the program's limits for one account. */
export function AccountLimits({ account }: Props) {
  const [is_open, setOpen] = useState(false)
  return (
    <>
      <Button aria-label={`Limits for ${account.email}`} onClick={() => setOpen(true)}>
        Limits
      </Button>
      {is_open && <LimitsSheet account={account} onClose={() => setOpen(false)} />}
    </>
  )
}

const profiles = [
  ['', 'Program default'],
  ['default', 'Standard'],
  ['conservative', 'Conservative'],
] as const

export const rateProfileName = (profile: string | null): string =>
  profiles.find(([value]) => value === (profile ?? ''))?.[1] ?? String(profile)

function LimitsSheet({ account, onClose }: Props & { onClose(): void }) {
  const [limit_texts, setLimitTexts] = useState<Record<string, string>>(() =>
    Object.fromEntries(
      Object.entries(account.own_limits).map(([name, value]) => [name, String(value)]),
    ),
  )
  const [profile, setProfile] = useState(account.rate_profile ?? '')
  const mutation = useOperatorMutation<void>({
    method: 'PATCH',
    path: () => `/accounts/${account.id}/limits`,
    body: () => ({
      ...changedProfile(account, profile),
      ...changedLimits(account, limit_texts),
    }),
    invalidates: ['/accounts'],
    onSuccess: () => {
      onClose()
      toast('Limits saved.')
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    mutation.mutate()
  }
  return (
    <Sheet
      open
      onOpenChange={onClose}
      title={`Limits for ${account.email}`}
      description="Leave a field empty to use the program’s limit."
    >
      <form className="space-y-3" onSubmit={submit}>
        <Select
          label="Rate profile"
          options={profiles}
          value={profile}
          onChange={(change) => setProfile(change.target.value)}
        />
        {Object.entries(account.spend_limits).map(([name, now]) => (
          <LimitField
            key={name}
            name={name}
            now={now}
            value={limit_texts[name] ?? ''}
            error={fieldError(mutation.error, name)}
            onChange={(text) => setLimitTexts({ ...limit_texts, [name]: text })}
          />
        ))}
        <ProblemNote problem={mutation.error} fields={Object.keys(account.spend_limits)} />
        <FormActions label="Save" busy={mutation.isPending} onCancel={onClose} />
      </form>
    </Sheet>
  )
}

type LimitFieldProps = {
  name: string
  now: number
  value: string
  error: string | undefined
  onChange(text: string): void
}

/** An amount, or a number for limits that count. */
function LimitField({ name, now, value, error, onChange }: LimitFieldProps) {
  const is_amount = name.endsWith('_usd')
  const field = {
    label: limitName(name),
    // The field of an amount begins with a dollar sign.
    placeholder: is_amount ? formatUsd(now).replace('$', '') : now.toLocaleString('en'),
    value,
    error,
    onChange: (change: ChangeEvent<HTMLInputElement>) => onChange(change.target.value),
  }
  if (is_amount) return <MoneyField {...field} />
  // Without the pattern, a word would be read as an empty field and remove the limit.
  return <Field {...field} inputMode="numeric" pattern="\d+" title="Enter a number, like 25" />
}

/** Sent unchanged, it would undo what another operator has set since the page was loaded. */
const changedProfile = ({ rate_profile }: OperatorAccount, profile: string) =>
  profile === (rate_profile ?? '') ? {} : { rate_profile: profile === '' ? null : profile }

/** Only changed limits; null restores the program's limit. */
function changedLimits(
  { own_limits }: OperatorAccount,
  limit_texts: Readonly<Record<string, string>>,
): Record<string, number | null> {
  const entered = Object.entries(limit_texts).map(([name, text]) => [name, parseUsd(text)] as const)
  return Object.fromEntries(entered.filter(([name, value]) => value !== (own_limits[name] ?? null)))
}
