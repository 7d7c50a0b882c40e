import type { InputOfName } from '#contract/operations.ts'
import { Field, Select } from '#panel/ui/field.tsx'
import { countries } from '#panel/words/countries.ts'

type Shipping = NonNullable<InputOfName<'issue_card'>['shipping']>

const methods = [
  ['standard', 'Standard'],
  ['priority', 'Priority'],
  ['express', 'Express'],
] as const

export function ShippingFields() {
  return (
    <fieldset className="grid gap-4 sm:grid-cols-2">
      <legend className="mb-2 text-sm font-medium text-soft">Shipping address</legend>
      <Field label="Recipient" name="recipient" required autoComplete="name" maxLength={100} />
      <Field label="Phone (optional)" name="phone" autoComplete="tel" type="tel" maxLength={40} />
      <Field label="Address" name="line1" required autoComplete="address-line1" maxLength={200} />
      <Field
        label="Apartment, suite (optional)"
        name="line2"
        autoComplete="address-line2"
        maxLength={200}
      />
      <Field label="City" name="city" required autoComplete="address-level2" maxLength={100} />
      <Field
        label="Postal code"
        name="postal_code"
        required
        autoComplete="postal-code"
        maxLength={20}
      />
      <Field
        label="State or province (optional)"
        name="state"
        autoComplete="address-level1"
        maxLength={100}
      />
      <Select
        label="Country"
        name="country"
        autoComplete="country"
        required
        options={[['', 'Select a country'], ...countries]}
      />
      <Select label="Shipping method" name="method" options={methods} />
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
