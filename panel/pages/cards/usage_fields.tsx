import { useState } from 'react'
import type { FlorinError } from '#client/client.ts'
import type { Card } from '#contract/cards.ts'
import type { InputOfName } from '#contract/operations.ts'
import { Field, Select } from '#panel/ui/field.tsx'
import { fieldError } from '#panel/ui/problem_note.tsx'
import { usage_names } from '#panel/words/card_usage.ts'

/** Names of the contract that a refusal can be about. */
export const usage_fields = ['valid_until', 'merchant_lock.name', 'merchant_lock.id']

export function UsageFields({ problem }: { problem: FlorinError | null }) {
  const [usage, setUsage] = useState<Card['usage']>('reusable')
  return (
    <fieldset className="grid gap-4 sm:grid-cols-2">
      <legend className="mb-2 text-sm font-medium text-soft">Usage</legend>
      <Select
        label="Works for"
        name="usage"
        value={usage}
        onChange={(change) => setUsage(change.target.value as Card['usage'])}
        options={Object.entries(usage_names)}
      />
      <Field
        label="Valid until (optional)"
        name="valid_until"
        type="datetime-local"
        hint="Purchases are declined after this time."
        error={fieldError(problem, 'valid_until')}
      />
      {usage === 'merchant_locked' && (
        <>
          <Field
            label="Merchant name (optional)"
            name="merchant_name"
            maxLength={100}
            placeholder="NETFLIX.COM"
            hint="As on its transactions. Leave empty to lock to the first merchant."
            error={fieldError(problem, 'merchant_lock.name')}
          />
          <Field
            label="Merchant ID (optional)"
            name="merchant_id"
            maxLength={40}
            error={fieldError(problem, 'merchant_lock.id')}
          />
        </>
      )}
    </fieldset>
  )
}

type Usage = Pick<InputOfName<'issue_card'>, 'usage' | 'merchant_lock' | 'valid_until'>

/** The time of the form has no zone, so it is local. */
export function readUsageForm(text: (name: string) => string): Usage {
  const usage = text('usage') as Card['usage']
  const [name, id] = [text('merchant_name'), text('merchant_id')]
  const isLocked = usage === 'merchant_locked' && name + id !== ''
  const valid_until = text('valid_until')
  return {
    ...(usage !== 'reusable' && { usage }),
    ...(isLocked && { merchant_lock: { name, ...(id !== '' && { id }) } }),
    ...(valid_until !== '' && { valid_until: new Date(valid_until).toISOString() }),
  }
}
