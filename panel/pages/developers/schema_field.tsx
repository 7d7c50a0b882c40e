import { typographic } from '#kernel/typographic.ts'
import { Field as Input, Select, TextArea } from '#panel/ui/field.tsx'
import type { Field } from './schema_fields.ts'

type Props = { field: Field; value: string; onChange(value: string): void }

/** The form control for an input field of the contract. */
export function SchemaField({ field, value, onChange }: Props) {
  const field_props = {
    label: field.is_required ? field.name : `${field.name} (optional)`,
    hint: typographic(fieldHint(field)),
    required: field.is_required,
    value,
  }
  if (field.kind === 'choice') {
    const options = field.choices.map((choice) => [choice, choice] as const)
    const empty_option = [['', field.is_required ? 'Select an option' : 'Not set']] as const
    return (
      <Select
        {...field_props}
        options={[...empty_option, ...options]}
        onChange={(change) => onChange(change.target.value)}
      />
    )
  }
  if (field.kind === 'json') {
    return (
      <TextArea
        {...field_props}
        rows={3}
        spellCheck={false}
        placeholder={field.example}
        onChange={(change) => onChange(change.target.value)}
      />
    )
  }
  return (
    <Input
      {...field_props}
      type={field.kind === 'secret' ? 'password' : 'text'}
      inputMode={field.kind === 'number' ? 'decimal' : 'text'}
      autoComplete="off"
      spellCheck={false}
      placeholder={field.kind === 'secret' ? '' : field.example}
      onChange={(change) => onChange(change.target.value)}
    />
  )
}

function fieldHint({ kind, description }: Field): string {
  if (kind === 'list') return `${description} Separate values with commas.`
  return kind === 'json' ? `${description} Enter JSON.` : description
}
