import type { FlorinError } from '#client/client.ts'
import type { InputOfName } from '#contract/operations.ts'
import { Field, Select } from '#panel/ui/field.tsx'
import { fieldError } from '#panel/ui/problem_note.tsx'
import { countries } from '#panel/words/countries.ts'

type Shipping = NonNullable<InputOfName<'issue_card'>['shipping']>

/** Names of the contract that a refusal can be about. */
export const shipping_fields = [
  'name',
  'phone',
  'line1',
  'line2',
  'city',
  'postal_code',
  'state',
  'country',
  'method',
].map((name) => `shipping.${name}`)

const methods = [
  ['standard', 'Standard'],
  ['priority', 'Priority'],
  ['express', 'Express'],
] as const

type Props = { problem: FlorinError | null }

export function ShippingFields({ problem }: Props) {
  const error = (name: string) => fieldError(problem, `shipping.${name}`)
  return (
    <fieldset className="grid gap-4 sm:grid-cols-2">
      <legend className="mb-2 text-sm font-medium text-soft">Shipping address</legend>
      <Field
        label="Recipient"
        name="recipient"
        error={error('name')}
        required
        autoComplete="name"
        maxLength={100}
      />
      <Field
        label="Phone (optional)"
        name="phone"
        error={error('phone')}
        autoComplete="tel"
        type="tel"
        maxLength={40}
      />
      <Field
        label="Address"
        name="line1"
        error={error('line1')}
        required
        autoComplete="address-line1"
        maxLength={200}
      />
      <Field
        label="Apartment, suite (optional)"
        name="line2"
        error={error('line2')}
        autoComplete="address-line2"
        maxLength={200}
      />
      <Field
        label="City"
        name="city"
        error={error('city')}
        required
        autoComplete="address-level2"
        maxLength={100}
      />
      <Field
        label="Postal code"
        name="postal_code"
        error={error('postal_code')}
        required
        autoComplete="postal-code"
        maxLength={20}
      />
      <Field
        label="State or province (optional)"
        name="state"
        error={error('state')}
        autoComplete="address-level1"
        maxLength={100}
      />
      <Select
        label="Country"
        name="country"
        error={error('country')}
        autoComplete="country"
        required
        options={[['', 'Select a country'], ...countries]}
      />
      <Select label="Shipping method" name="method" error={error('method')} options={methods} />
    </fieldset>
  )
}

export function readShippingForm(text: (name: string) => string): Shipping {
  const optional = ['line2', 'state', 'phone'].filter((name) => text(name) !== '')
  return {
    name: text('recipient'),
    line1: text('line1'),
    city: text('city'),
    postal_code: text('postal_code'),
    country: text('country'),
    method: text('method') as NonNullable<Shipping['method']>,
    ...Object.fromEntries(optional.map((name) => [name, text(name)])),
  }
}
