import type { CardRules } from '#contract/cards.ts'
import { type Option, Picker } from '#panel/ui/picker.tsx'
import { Toggle } from '#panel/ui/toggle.tsx'
import { categories, categoryName } from '#panel/words/categories.ts'
import { countries, countryName } from '#panel/words/countries.ts'

export type RuleKind = 'mcc' | 'geo'
type Choices = {
  title: string
  noun: string
  options: readonly Option[]
  nameOf(code: string): string
  /** Accepts typed codes that are not in `options`. */
  accepts?: RegExp
}

export const rule_kinds: Record<RuleKind, Choices> = {
  mcc: {
    title: 'Merchant categories',
    noun: 'merchant categories',
    options: categories,
    nameOf: categoryName,
    accepts: /^\d{4}(-\d{4})?$/,
  },
  geo: { title: 'Countries', noun: 'countries', options: countries, nameOf: countryName },
}

type Props = { kind: RuleKind; rules: CardRules; onChange(rules: CardRules): void }

/** The allow and block lists of one kind; the form around them saves them. */
export function RuleFields({ kind, rules, onChange }: Props) {
  const { noun, options, nameOf, accepts } = rule_kinds[kind]
  const picking = { options, nameOf, ...(accepts !== undefined && { accepts }) }
  return (
    <>
      <div>
        <Toggle
          label={`Allow only selected ${noun}`}
          hint="When off, everything that isn’t blocked is allowed."
          checked={rules.allow !== null}
          onChange={(is_on) => onChange({ ...rules, allow: is_on ? [] : null })}
        />
        {rules.allow !== null && (
          <Picker
            label={`Add allowed ${noun}`}
            {...picking}
            selected={rules.allow}
            onChange={(allow) => onChange({ ...rules, allow })}
          />
        )}
      </div>
      <div>
        <p className="mb-2 font-medium">Blocked {noun}</p>
        <Picker
          label={`Add blocked ${noun}`}
          {...picking}
          selected={rules.deny ?? []}
          onChange={(deny) => onChange({ ...rules, deny: deny.length === 0 ? null : deny })}
        />
      </div>
    </>
  )
}
