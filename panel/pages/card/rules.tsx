import { useState } from 'react'
import type { Card, CardRules } from '#contract/cards.ts'
import { useOperationMutation } from '#panel/queries.ts'
import { Badge, type Tone } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Dialog, DialogActions } from '#panel/ui/dialog.tsx'
import { type Option, Picker } from '#panel/ui/picker.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { Section } from '#panel/ui/section.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { Toggle } from '#panel/ui/toggle.tsx'
import { categories, categoryName } from '#panel/words/categories.ts'
import { countries, countryName } from '#panel/words/countries.ts'

type Kind = 'mcc' | 'geo'
type RuleKind = {
  title: string
  noun: string
  options: readonly Option[]
  nameOf(code: string): string
  /** Accepts typed codes that are not in `options`. */
  accepts?: RegExp
}

const kinds: Record<Kind, RuleKind> = {
  mcc: {
    title: 'Merchant categories',
    noun: 'merchant categories',
    options: categories,
    nameOf: categoryName,
    accepts: /^\d{4}(-\d{4})?$/,
  },
  geo: { title: 'Countries', noun: 'countries', options: countries, nameOf: countryName },
}

/** The allow and block lists of a card, for merchant categories or for countries. */
export function Rules({ card, kind }: { card: Card; kind: Kind }) {
  const [is_open, setOpen] = useState(false)
  const { title, noun } = kinds[kind]
  const rules = card[kind]
  return (
    <Section
      title={title}
      action={
        card.status !== 'cancelled' && (
          <Button size="small" aria-label={`Edit ${noun}`} onClick={() => setOpen(true)}>
            Edit
          </Button>
        )
      }
    >
      {rules.allow === null && (rules.deny ?? []).length === 0 ? (
        <p className="text-soft">All {noun} allowed.</p>
      ) : (
        <div className="space-y-3">
          <RuleList kind={kind} title="Allowed" codes={rules.allow} tone="good" />
          <RuleList kind={kind} title="Blocked" codes={rules.deny} tone="bad" />
        </div>
      )}
      <Dialog
        wide
        open={is_open}
        onOpenChange={setOpen}
        title={title}
        description="Other purchases are declined. Blocked overrides allowed."
      >
        <RulesForm card={card} kind={kind} onDone={() => setOpen(false)} />
      </Dialog>
    </Section>
  )
}

type RuleListProps = { kind: Kind; title: string; codes: readonly string[] | null; tone: Tone }

function RuleList({ kind, title, codes, tone }: RuleListProps) {
  if (codes === null || (codes.length === 0 && title === 'Blocked')) return null
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      <span className="w-14 text-sm text-soft">{title}</span>
      {codes.length === 0 && <Badge tone="bad">None</Badge>}
      {codes.map((code) => (
        <Badge key={code} tone={tone}>
          {kinds[kind].nameOf(code)} <span className="num font-normal">{code}</span>
        </Badge>
      ))}
    </div>
  )
}

type FormProps = { card: Card; kind: Kind; onDone(): void }

function RulesForm({ card, kind, onDone }: FormProps) {
  const [rules, setRules] = useState<CardRules>(card[kind])
  const { noun, options, nameOf, accepts } = kinds[kind]
  const mutation = useOperationMutation(kind === 'mcc' ? 'set_mcc_rules' : 'set_card_geo', {
    onSuccess: () => {
      toast('Rules saved.')
      onDone()
    },
  })
  const picking = { options, nameOf, ...(accepts !== undefined && { accepts }) }
  return (
    <div className="space-y-5">
      <div>
        <Toggle
          label={`Allow only selected ${noun}`}
          hint="When off, everything that isn’t blocked is allowed."
          checked={rules.allow !== null}
          onChange={(is_on) => setRules({ ...rules, allow: is_on ? [] : null })}
        />
        {rules.allow !== null && (
          <Picker
            label={`Add allowed ${noun}`}
            {...picking}
            selected={rules.allow}
            onChange={(allow) => setRules({ ...rules, allow })}
          />
        )}
      </div>
      <div>
        <p className="mb-2 font-medium">Blocked {noun}</p>
        <Picker
          label={`Add blocked ${noun}`}
          {...picking}
          selected={rules.deny ?? []}
          onChange={(deny) => setRules({ ...rules, deny: deny.length === 0 ? null : deny })}
        />
      </div>
      <ProblemNote problem={mutation.error} />
      <DialogActions>
        <Button
          kind="main"
          busy={mutation.isPending}
          onClick={() => mutation.mutate({ id: card.id, allow: rules.allow, deny: rules.deny })}
        >
          Save
        </Button>
      </DialogActions>
    </div>
  )
}
