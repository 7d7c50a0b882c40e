import { Compile } from 'typebox/compile'
import { type InputShape, inputLocation } from '#contract/operation.ts'
import { Problem, type ProblemDetail } from '#contract/problem.ts'
import { InexactNumber } from '#kernel/json.ts'
import { decimalsOf, USD_MAX } from '#kernel/money.ts'
import type { Invocation } from '#operations/invocation.ts'
import { type AmountField, amountFields, placeOf } from './amount_fields.ts'
import { detailsFrom, type InputDetails, type SchemaError, unknownField } from './input_details.ts'
import { encodedFields, overlongFields } from './text_lengths.ts'

type Input = Record<string, unknown>
type Validator = { Check(value: unknown): boolean; Errors(value: unknown): SchemaError[] }
type InputChecks = {
  validator: Validator
  amounts: readonly AmountField[]
  /** Fields with encoded bytes, such as a base64 file. */
  encoded: readonly string[]
}

const checks_of = new Map<InputShape, InputChecks>()

/** A schema is compiled to code, so each is compiled once. */
function checksFor(operation: InputShape): InputChecks {
  let known = checks_of.get(operation)
  if (known === undefined) {
    known = {
      validator: Compile(operation.input) as unknown as Validator,
      amounts: amountFields(operation.input),
      encoded: encodedFields(operation.input),
    }
    checks_of.set(operation, known)
  }
  return known
}

/** Reads the input and validates it; throws a Problem if it is not valid. */
export async function parseInput(invocation: Invocation): Promise<void> {
  const { operation, call } = invocation
  const { input, refusal } = validateInput(operation, await call.readInput())
  invocation.input = input
  invocation.refusal = refusal
}

type ValidatedInput = {
  input: Input
  /** A well-formed but unacceptable amount; stored under the call's Idempotency-Key. */
  refusal: Problem | null
}

/**
 * The schema is checked first and fails with 400. Amounts are checked only in a valid request and
 * fail with 422.
 */
export function validateInput(operation: InputShape, given: unknown): ValidatedInput {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new Problem('invalid_request', 'The body must be a JSON object.')
  }
  const { validator, amounts, encoded } = checksFor(operation)
  const input = given as Input
  const restore = amounts.length === 0 ? silent : setInexactAside(input, amounts)
  // Lengths before patterns: a pattern may take time or stack in proportion to its text.
  const too_long = overlongFields(operation.input, input)
  if (too_long.length > 0) throw invalidRequest(too_long)
  if (!validator.Check(input)) throw refusalOf(operation, input, validator)
  for (const name in input) {
    if (!encoded.includes(name)) requireStorableText(input[name], name)
  }
  restore()
  return {
    input,
    refusal: amounts.length === 0 ? null : validateAmounts(operation, input, amounts),
  }
}

const silent = () => undefined

function validateAmounts(
  operation: InputShape,
  input: Input,
  amounts: readonly AmountField[],
): Problem | null {
  const wrong = amounts.flatMap((field) => validateAmount(input, field))
  const details = wrong.length > 0 ? wrong : amounts.flatMap((field) => validateSize(input, field))
  const [first] = details
  if (first === undefined) return null
  if (inputLocation(operation) === 'query') throw invalidRequest(details)
  const code = wrong.length > 0 ? 'invalid_amount' : 'amount_out_of_range'
  return new Problem(code, messageOf(first), { details })
}

/** Replaces numbers a float cannot hold with 0 while the schema is checked. */
function setInexactAside(input: Input, amounts: readonly AmountField[]): () => void {
  const aside: (() => void)[] = []
  for (const { path } of amounts) {
    const place = placeOf(input, path)
    const value = place?.holder[place.name]
    if (place === null || !(value instanceof InexactNumber)) continue
    place.holder[place.name] = 0
    aside.push(() => {
      place.holder[place.name] = value
    })
  }
  return () => {
    for (const putBack of aside) putBack()
  }
}

function refusalOf(operation: InputShape, input: Input, validator: Validator): Problem {
  const { unknown_fields, details } =
    manyUnknown(operation, input) ?? detailsFrom(operation.input, validator.Errors(input))
  const isQuery = inputLocation(operation) === 'query'
  if (isQuery && unknown_fields.length > 0) {
    const shown = unknown_fields.slice(0, DETAILS_MAX)
    const names = shown.map(({ field }) => field).join(', ')
    return new Problem('unknown_parameter', `Unknown query parameter: ${names}.`, {
      details: shown,
    })
  }
  return invalidRequest([...unknown_fields, ...details])
}

/** The validator describes each unknown field, which takes it 15 ms for 9,000 of them. */
function manyUnknown({ input: schema }: InputShape, input: Input): InputDetails | null {
  const names = Object.keys(input).filter((name) => !Object.hasOwn(schema.properties, name))
  return names.length > DETAILS_MAX
    ? { unknown_fields: names.map(unknownField), details: [] }
    : null
}

/** Enough to fix a request; one with thousands of wrong fields was not written by a person. */
const DETAILS_MAX = 20

function invalidRequest(details: readonly ProblemDetail[]): Problem {
  const [first] = details
  const message = first === undefined ? 'The request is not valid.' : messageOf(first)
  return new Problem('invalid_request', message, { details: details.slice(0, DETAILS_MAX) })
}

function messageOf({ field, message }: ProblemDetail): string {
  return field === '' ? `The request ${message}.` : `${field} ${message}.`
}

function validateAmount(input: Input, { path, decimals }: AmountField): ProblemDetail[] {
  const place = placeOf(input, path)
  if (place === null) return []
  const value = place.holder[place.name]
  const complaint = (message: string) => [{ field: path.join('.'), message }]
  if (value instanceof InexactNumber && value.text.startsWith('-')) {
    return complaint('must not be negative')
  }
  if (value instanceof InexactNumber) {
    return complaint(`has too many digits for an amount with up to ${decimals} decimal places`)
  }
  if (typeof value !== 'number') return []
  if (value < 0) return complaint('must not be negative')
  if (decimalsOf(value) > decimals) return complaint(`must have at most ${decimals} decimal places`)
  return []
}

/** The ledger's own maximum; handlers enforce tighter limits. */
function validateSize(input: Input, { path }: AmountField): ProblemDetail[] {
  const place = placeOf(input, path)
  if (place === null || Number(place.holder[place.name]) <= USD_MAX) return []
  return [{ field: path.join('.'), message: `must be at most ${USD_MAX}` }]
}

/** A lone surrogate is not a character, so the stored text would differ from the one sent. */
const UNSTORABLE = /\u0000|\p{Surrogate}/u

/** PostgreSQL text cannot contain the null character. */
export function requireStorableText(value: unknown, field: string): void {
  if (typeof value === 'string' && UNSTORABLE.test(value)) {
    throw invalidRequest([
      { field, message: 'must not contain null characters or lone surrogates' },
    ])
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    requireStorableText(key, field)
    requireStorableText(member, `${field}.${key}`)
  }
}
