import { useSearchParams } from 'wouter'
import type { OperationShape } from '#contract/operation.ts'
import { type OperationName, operations } from '#contract/operations.ts'
import { typographic } from '#kernel/typographic.ts'
import { Select } from '#panel/ui/field.tsx'
import { Section } from '#panel/ui/section.tsx'
import { OperationForm } from './operation_form.tsx'

const shapes: readonly OperationShape[] = Object.values(operations)
const sections = [...new Set(shapes.map(({ section }) => section))]

/** A form for each operation, generated from the contract. */
export function Requests() {
  const [query, setQuery] = useSearchParams()
  const operation_param = query.get('operation') ?? ''
  const name = (operation_param in operations ? operation_param : 'get_account') as OperationName
  const shape: OperationShape = operations[name]
  return (
    <div className="space-y-4">
      <Section title="Request builder">
        <OperationSelect
          value={name}
          onChange={(operation) => setQuery({ operation }, { replace: true })}
        />
        <p className="mt-3 max-w-3xl text-soft">{renderDescription(shape.description)}</p>
      </Section>
      <OperationForm key={name} name={name} />
    </div>
  )
}

/** Descriptions in the contract mark field names with backticks. */
const renderDescription = (sentence: string) =>
  sentence.split('`').map((part, at) =>
    at % 2 === 0 ? (
      typographic(part)
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts never reorder.
      <code key={at} className="font-mono text-sm text-ink">
        {part}
      </code>
    ),
  )

function OperationSelect({ value, onChange }: { value: string; onChange(value: string): void }) {
  return (
    <Select label="Operation" value={value} onChange={({ target }) => onChange(target.value)}>
      {sections.map((section) => (
        <optgroup key={section} label={section}>
          {shapes
            .filter((shape) => shape.section === section)
            .map(({ name, summary }) => (
              <option key={name} value={name}>
                {name}: {typographic(summary)}
              </option>
            ))}
        </optgroup>
      ))}
    </Select>
  )
}
