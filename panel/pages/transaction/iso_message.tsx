import { useState } from 'react'
import type { AuthDetails } from '#contract/transactions.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { Code } from '#panel/ui/code.tsx'
import { Section } from '#panel/ui/section.tsx'
import { ErrorState, Skeleton } from '#panel/ui/states.tsx'
import { Time } from '#panel/ui/time.tsx'

/** Loaded only when it is opened. */
export function IsoMessage({ id }: { id: string }) {
  const [is_open, setOpen] = useState(false)
  return (
    <Section
      title="ISO 8583 message"
      action={
        <Button size="small" aria-expanded={is_open} onClick={() => setOpen(!is_open)}>
          {is_open ? 'Hide' : 'Show'}
        </Button>
      }
    >
      {is_open ? (
        <Message id={id} />
      ) : (
        <p className="text-soft">The network’s request and our response, field by field.</p>
      )}
    </Section>
  )
}

function Message({ id }: { id: string }) {
  const query = useOperationQuery('get_auth_details', { id })
  if (query.data !== undefined) return <Elements details={query.data} />
  if (query.error === null) return <Skeleton className="h-40" />
  if (query.error.code === 'not_found') {
    return <p className="text-soft">This transaction has no ISO 8583 message.</p>
  }
  return <ErrorState problem={query.error} retry={() => void query.refetch()} />
}

function Elements({ details }: { details: AuthDetails }) {
  return (
    <div className="space-y-4">
      <p className="text-soft">
        Request <code className="font-mono text-ink">{details.mti}</code> received{' '}
        <Time at={details.received_at} />. Response{' '}
        <code className="font-mono text-ink">{details.response_mti}</code>, response code{' '}
        <code className="font-mono text-ink">{details.response_code}</code>.
      </p>
      <ElementTable label="Request data elements" fields={details.fields} />
      <h3 className="font-medium">Response</h3>
      <ElementTable label="Response data elements" fields={details.response_fields} />
      <Code wraps label="Bitmap" text={details.bitmap} />
      <Code wraps label="Raw message (hex, masked)" text={details.raw_hex} />
    </div>
  )
}

function ElementTable({ label, fields }: { label: string; fields: Record<string, string> }) {
  return (
    <table aria-label={label} className="w-full border-collapse text-sm">
      <thead className="border-b border-line text-left text-soft">
        <tr>
          <th scope="col" className="py-1.5 pr-3 font-medium">
            Element
          </th>
          <th scope="col" className="py-1.5 font-medium">
            Value
          </th>
        </tr>
      </thead>
      <tbody className="divide-y divide-line">
        {Object.entries(fields).map(([number, value]) => (
          <tr key={number}>
            <th scope="row" className="w-2/5 py-1.5 pr-3 text-left align-top font-normal">
              <span className="flex gap-2">
                <span className="num w-6 shrink-0 font-mono text-soft">{number}</span>
                {element_names[number] ?? ''}
              </span>
            </th>
            <td className="py-1.5 align-top font-mono break-all whitespace-pre-wrap">{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Data element names of ISO 8583:1987, for the elements that card messages use. */
const element_names: Readonly<Record<string, string>> = {
  2: 'Primary account number',
  3: 'Processing code',
  4: 'Transaction amount',
  6: 'Cardholder billing amount',
  7: 'Transmission date and time',
  10: 'Conversion rate, billing',
  11: 'System trace audit number',
  12: 'Local time',
  13: 'Local date',
  14: 'Expiration date',
  15: 'Settlement date',
  18: 'Merchant category code',
  19: 'Acquirer country code',
  22: 'POS entry mode',
  25: 'POS condition code',
  32: 'Acquirer ID',
  37: 'Retrieval reference number',
  38: 'Authorization code',
  39: 'Response code',
  41: 'Terminal ID',
  42: 'Merchant ID',
  43: 'Merchant name and location',
  44: 'Additional response data',
  48: 'Additional data',
  49: 'Transaction currency',
  51: 'Billing currency',
  54: 'Additional amounts',
  60: 'Private data',
  90: 'Original data elements',
  95: 'Replacement amounts',
}
