import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import type { FlorinError } from '#client/client.ts'
import type { CardRules } from '#contract/cards.ts'
import type { InputOfName } from '#contract/operations.ts'
import { RuleFields, type RuleKind, rule_kinds } from '#panel/pages/card/rule_fields.tsx'
import { useOperationMutation, useOperationQuery } from '#panel/queries.ts'
import { Dialog, FormActions } from '#panel/ui/dialog.tsx'
import { Field, MoneyField, Select } from '#panel/ui/field.tsx'
import { ChevronRight } from '#panel/ui/icons.ts'
import { formatUsd, parseUsd } from '#panel/ui/money.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { readShippingForm, ShippingFields, shipping_fields } from './shipping_fields.tsx'
import { readUsageForm, UsageFields, usage_fields } from './usage_fields.tsx'

export function IssueDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  return (
    <Dialog
      wide
      open={open}
      onOpenChange={onClose}
      title="Issue card"
      description="You can change limits and rules at any time."
    >
      <IssueForm onClose={onClose} />
    </Dialog>
  )
}

type CardType = 'virtual' | 'physical'
type Rules = Record<RuleKind, CardRules>

const NO_RULES: CardRules = { allow: null, deny: null }

function IssueForm({ onClose }: { onClose(): void }) {
  const [type, setType] = useState<CardType>('virtual')
  const [rules, setRules] = useState<Rules>({ mcc: NO_RULES, geo: NO_RULES })
  const [, navigate] = useLocation()
  const balance_usd = useOperationQuery('get_balance', {}).data?.balance_usd
  const bins = useOperationQuery('get_limits', {}).data?.programme.bins ?? []
  const issue_card = useOperationMutation('issue_card', {
    onSuccess: (card) => {
      toast('Card issued.')
      navigate(`/cards/${card.id}`)
    },
  })
  const submit = (form: FormEvent<HTMLFormElement>) => {
    form.preventDefault()
    issue_card.mutate({
      ...readCardForm(new FormData(form.currentTarget), type),
      ...setRulesOf(rules),
    })
  }
  const offered = bins.filter(({ types }) => types.includes(type))
  return (
    <form onSubmit={submit} className="space-y-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label="Type"
          value={type}
          onChange={(change) => setType(change.target.value as CardType)}
          options={[
            ['virtual', 'Virtual (ready immediately)'],
            ['physical', 'Physical (shipped to you)'],
          ]}
        />
        <Select
          // A new list needs its own default, which a select takes only when it is created.
          key={offered.map(({ bin }) => bin).join()}
          label="Network"
          name="bin"
          defaultValue={offered.find((each) => each.default)?.bin}
          options={offered.map((each) => [each.bin, networkName(each, offered)])}
        />
      </div>
      {type === 'physical' && <ShippingFields problem={issue_card.error} />}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Name (optional)"
          name="name"
          maxLength={100}
          placeholder="Cloud bills"
          error={fieldError(issue_card.error, 'name')}
        />
        <MoneyField
          label="Load amount (optional)"
          name="load_usd"
          hint={balance_usd === undefined ? '' : `${formatUsd(balance_usd)} available`}
          error={fieldError(issue_card.error, 'load_usd')}
          keeps_hint
        />
      </div>
      <LimitFields problem={issue_card.error} />
      <UsageFields problem={issue_card.error} />
      {(['mcc', 'geo'] as const).map((kind) => (
        <RuleDetails
          key={kind}
          kind={kind}
          rules={rules[kind]}
          onChange={(changed) => setRules({ ...rules, [kind]: changed })}
        />
      ))}
      <ProblemNote problem={issue_card.error} fields={shown_fields} />
      <FormActions label="Issue card" busy={issue_card.isPending} onCancel={onClose} />
    </form>
  )
}

type Bin = { bin: string; brand: 'visa' | 'mastercard' }

/** With its BIN only if the brand alone is not enough to choose. */
function networkName({ bin, brand }: Bin, offered: readonly Bin[]): string {
  const name = brand === 'visa' ? 'Visa' : 'Mastercard'
  return offered.filter((each) => each.brand === brand).length > 1 ? `${name} (${bin})` : name
}

const limit_fields = [
  ['per_transaction_usd', 'Per purchase'],
  ['daily_usd', 'Daily'],
  ['monthly_usd', 'Monthly'],
] as const

function LimitFields({ problem }: { problem: FlorinError | null }) {
  return (
    <fieldset className="grid gap-4 sm:grid-cols-3">
      <legend className="mb-2 text-sm font-medium text-soft">Spending limits (optional)</legend>
      {limit_fields.map(([name, label]) => (
        <MoneyField
          key={name}
          label={label}
          name={name}
          placeholder="No limit"
          error={fieldError(problem, `limits.${name}`)}
        />
      ))}
    </fieldset>
  )
}

type RuleDetailsProps = { kind: RuleKind; rules: CardRules; onChange(rules: CardRules): void }

/** Closed at first: most cards have no rules, and the lists would hide the rest of the form. */
function RuleDetails({ kind, rules, onChange }: RuleDetailsProps) {
  return (
    <details className="group rounded-lg border border-line">
      <summary className="flex cursor-pointer list-none items-center gap-2 rounded-lg px-3 py-2 font-medium hover:bg-hover">
        <ChevronRight
          aria-hidden
          className="size-4 text-soft transition-transform group-open:rotate-90"
        />
        {rule_kinds[kind].title} (optional)
      </summary>
      <div className="space-y-4 px-3 pt-1 pb-3">
        <RuleFields kind={kind} rules={rules} onChange={onChange} />
      </div>
    </details>
  )
}

/** Names of the contract. A refused rule is shown above the buttons: its list may be closed. */
const shown_fields = [
  'name',
  'load_usd',
  ...limit_fields.map(([name]) => `limits.${name}`),
  ...usage_fields,
  ...shipping_fields,
]

/** Only the rules that restrict something. */
function setRulesOf(rules: Rules): Partial<Rules> {
  const isSet = ({ allow, deny }: CardRules) => allow !== null || deny !== null
  return Object.fromEntries(Object.entries(rules).filter(([, each]) => isSet(each)))
}

/** Leaves out empty fields. */
function readCardForm(form: FormData, type: CardType): InputOfName<'issue_card'> {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const usd = (name: string) => parseUsd(text(name))
  const names = limit_fields.map(([name]) => name)
  const limits = names.filter((name) => usd(name) !== null).map((name) => [name, usd(name)])
  const load_usd = usd('load_usd')
  return {
    type,
    ...(text('bin') !== '' && { bin: text('bin') }),
    ...(text('name') !== '' && { name: text('name') }),
    ...(load_usd !== null && { load_usd }),
    ...(limits.length > 0 && { limits: Object.fromEntries(limits) }),
    ...readUsageForm(text),
    ...(type === 'physical' && { shipping: readShippingForm(text) }),
  }
}
