import { useEffect, useRef } from 'react'
import type { FlorinError } from '#client/client.ts'
import { humanize } from './badge.tsx'
import { CircleAlert } from './icons.ts'

type Props = {
  problem: FlorinError | null
  /** Fields that show their own errors. */
  fields?: readonly string[]
}

/** The error of a form. Only for screen readers if a field already shows all of it. */
export function ProblemNote({ problem, fields = [] }: Props) {
  if (problem === null) return null
  if (isShownAt(fields, problem)) return <FieldNote problem={problem} />
  return (
    <div
      role="alert"
      className="mt-4 flex gap-2.5 rounded-lg bg-bad-ground px-3 py-2.5 text-bad [&_svg]:mt-0.5 [&_svg]:size-4 [&_svg]:shrink-0"
    >
      <CircleAlert aria-hidden />
      <div className="min-w-0">
        <p className="wrap-anywhere">{problemText(problem)}</p>
        <RequestId problem={problem} />
      </div>
    </div>
  )
}

/**
 * Moves to the first refused field, which may be out of sight above the button. Sending the form
 * again removes the error, so the next one mounts this again.
 */
function FieldNote({ problem }: { problem: FlorinError }) {
  const note = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    const form = note.current?.closest('form')
    form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [])
  return (
    <p ref={note} role="alert" className="sr-only">
      {problemText(problem)}
    </p>
  )
}

/** True if the fields show every part of the error. */
function isShownAt(fields: readonly string[], problem: FlorinError): boolean {
  const { details } = problem
  if (details.length > 0) return details.every(({ field }) => fields.includes(field))
  return fields.some((field) => fieldError(problem, field) !== undefined)
}

/** Only for faults of the service, which support looks up; a wrong input is the user’s to fix. */
export function RequestId({ problem: { status, request_id } }: { problem: FlorinError }) {
  if (request_id === null || status < 500) return null
  return <p className="mt-0.5 text-sm break-all">Request ID for support: {request_id}</p>
}

/** Fields whose name in a form differs from the contract’s. */
const field_names: Readonly<Record<string, string>> = {
  body: 'Message',
  load_usd: 'Amount to load',
  totp_code: 'Authentication code',
  per_transaction_usd: 'Limit per purchase',
  daily_usd: 'Daily limit',
  monthly_usd: 'Monthly limit',
}

/** The message with the name of its field as a person reads it: "Amount must not be negative." */
export function problemText({ message, details: [first] }: FlorinError): string {
  if (first === undefined || message !== `${first.field} ${first.message}.`) return message
  const name = first.field.split('.').findLast((part) => !/^\d+$/.test(part)) ?? first.field
  return `${field_names[name] ?? humanize(name.replace(/_usd$/, ''))} ${first.message}.`
}

/** Codes that refuse one field of a form, although their errors have no details. */
const code_fields: Readonly<Record<string, readonly string[]>> = {
  insufficient_balance: ['amount_usd', 'load_usd'],
  insufficient_card_balance: ['amount_usd'],
  email_taken: ['email'],
  invalid_credentials: ['current_password'],
  totp_invalid: ['totp_code'],
}

/** The sentence for one field, if the error is about it. */
export function fieldError(problem: FlorinError | null, field: string): string | undefined {
  if (problem === null) return undefined
  const { code, message, details } = problem
  if (details.length === 0) return code_fields[code]?.includes(field) ? message : undefined
  const found = details.find((detail) => detail.field === field)?.message
  if (found === undefined) return undefined
  // A sentence of its own says more than the detail, such as how much an account can still hold.
  if (details.length === 1 && message !== `${field} ${found}.`) return message
  return `${found.charAt(0).toUpperCase()}${found.slice(1).replace(/\.$/, '')}.`
}
