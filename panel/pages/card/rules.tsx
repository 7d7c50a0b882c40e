import { useState } from 'react'
import type { Card, CardRules } from '#contract/cards.ts'
import { useOperationMutation } from '#panel/queries.ts'
import { Badge, type Tone } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Dialog, DialogActions } from '#panel/ui/dialog.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { Section } from '#panel/ui/section.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { RuleFields, type RuleKind, rule_kinds } from './rule_fields.tsx'

/** The allow and block lists of a card, for merchant categories or for countries. */
export function Rules({ card, kind }: { card: Card; kind: RuleKind }) {
  const [is_open, setOpen] = useState(false)
  const { title, noun } = rule_kinds[kind]
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
        description="Purchases that these rules don’t allow are declined. A block wins over an allow."
      >
        <RulesForm card={card} kind={kind} onDone={() => setOpen(false)} />
      </Dialog>
    </Section>
  )
}

type RuleListProps = { kind: RuleKind; title: string; codes: readonly string[] | null; tone: Tone }

function RuleList({ kind, title, codes, tone }: RuleListProps) {
  if (codes === null || (codes.length === 0 && title === 'Blocked')) return null
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      <span className="w-14 text-sm text-soft">{title}</span>
      {codes.length === 0 && <Badge tone="bad">None</Badge>}
      {codes.map((code) => (
        <Badge key={code} tone={tone}>
          {rule_kinds[kind].nameOf(code)} <span className="num font-normal">{code}</span>
        </Badge>
      ))}
    </div>
  )
}

type FormProps = { card: Card; kind: RuleKind; onDone(): void }

function RulesForm({ card, kind, onDone }: FormProps) {
  const [shown] = useState<CardRules>(card[kind])
  const [rules, setRules] = useState(shown)
  const mutation = useOperationMutation(kind === 'mcc' ? 'set_mcc_rules' : 'set_card_geo', {
    onSuccess: () => {
      toast('Rules saved.')
      onDone()
    },
  })
  const save = () => {
    // Only the list that was changed here: another tab or an agent may have changed the other one.
    const changed = {
      ...(rules.allow !== shown.allow && { allow: rules.allow }),
      ...(rules.deny !== shown.deny && { deny: rules.deny }),
    }
    if (Object.keys(changed).length === 0) return onDone()
    mutation.mutate({ id: card.id, ...changed })
  }
  return (
    <div className="space-y-5">
      <RuleFields kind={kind} rules={rules} onChange={setRules} />
      <ProblemNote problem={mutation.error} />
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button kind="main" busy={mutation.isPending} onClick={save}>
          Save
        </Button>
      </DialogActions>
    </div>
  )
}
