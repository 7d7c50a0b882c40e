import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import type { IdPrefix } from '#kernel/id.ts'

/** The small shapes that every section of the contract is made of. */

export const Nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

/** A closed set of words. `type` is said too: some tools do not infer it from the members. */
export const OneOf = <const Values extends readonly string[]>(
  values: Values,
  options: { description?: string; default?: Values[number]; examples?: Values[number][] } = {},
) => Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options })

/** In a query: one value or several, separated by commas. */
export const ListOf = <const Values extends readonly string[]>(
  values: Values,
  description: string,
) =>
  Type.Unsafe<string>({
    type: 'string',
    pattern: `^(${values.join('|')})(,(${values.join('|')}))*$`,
    maxLength: 2_000,
    description: `${description} One or several, separated by commas: ${values.join(', ')}.`,
    examples: [values.slice(0, 2).join(',')],
  })

export const EXAMPLE_BODY = '01kc3z8e5xf8m9r4t2v6w7y8za'

export const Id = (prefix: IdPrefix, description: string) =>
  Type.String({ description, examples: [`${prefix}_${EXAMPLE_BODY}`] })

export const Timestamp = (description: string) =>
  Type.String({
    format: 'date-time',
    maxLength: 40,
    description,
    examples: ['2026-11-15T09:30:00.000Z'],
  })

/** An amount in an answer. */
export const Usd = (description: string) => Type.Number({ description, examples: [25.5] })

/**
 * An amount in a request. `x-decimals` is what input validation reads: more decimals than these,
 * or a number too long to be held exactly, is refused as `invalid_amount`.
 */
export const UsdInput = (
  description: string,
  options: { decimals?: 2 | 6; examples?: number[] } = {},
) =>
  Type.Number({
    description: `${description} At most ${options.decimals ?? 2} decimals.`,
    examples: options.examples ?? [25.5],
    'x-decimals': options.decimals ?? 2,
  })

export const Metadata = Type.Record(Type.String(), Type.String(), {
  description: 'Your own notes, as you sent them.',
  examples: [{ order: 'A-1009' }],
})

/** A pattern, because a record's key schema keeps nothing of a key but its pattern. */
const MetadataKey = Type.String({ pattern: '^[^]{1,40}$' })

export const MetadataInput = Type.Record(MetadataKey, Type.String({ maxLength: 500 }), {
  additionalProperties: false,
  maxProperties: 20,
  description:
    'Your own notes: at most 20 pairs, keys of up to 40 and values of up to 500 characters.',
  examples: [{ order: 'A-1009' }],
})

/** What every object that can change carries. */
export const versioned = {
  version: Type.Integer({ description: 'Grows by one with each change.', examples: [1] }),
  created_at: Timestamp('When it was made.'),
  updated_at: Timestamp('When it last changed.'),
}

/** The query every list takes. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 25,
      description: 'Rows per page.',
      examples: [25],
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      description: 'The next_cursor of the page before. It is bound to its filters and order.',
    }),
  ),
  order: Type.Optional(
    OneOf(['desc', 'asc'], {
      default: 'desc',
      description: 'desc: newest first; asc: oldest first.',
      examples: ['desc'],
    }),
  ),
  created_gt: Type.Optional(Timestamp('Only what was made after this moment.')),
  created_gte: Type.Optional(Timestamp('Only what was made at or after this moment.')),
  created_lt: Type.Optional(Timestamp('Only what was made before this moment.')),
  created_lte: Type.Optional(Timestamp('Only what was made at or before this moment.')),
}

/** Input objects are strict: an ignored field or filter is dangerous, above all for an agent. */
export const Input = <Properties extends TProperties>(
  properties: Properties,
): TObject<Properties> => Type.Object(properties, { additionalProperties: false })

export const Page = <Row extends TSchema>(row: Row) =>
  Type.Object({
    data: Type.Array(row),
    next_cursor: Nullable(Type.String({ description: 'Pass it as `cursor` for the next page.' })),
    has_more: Type.Boolean({ description: 'Whether a next page exists.' }),
  })

export const TotpCode = Type.String({
  description: 'The six digits of the authenticator app. A code works once.',
  maxLength: 32,
  examples: ['492039'],
})

export const Nothing = Type.Object({}, { description: 'No content.' })

export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'A stable code.', examples: ['invalid_request'] }),
    message: Type.String({ description: 'A sentence for a person.' }),
    request_id: Type.String({ description: 'Quote it when you ask for help.' }),
    details: Type.Optional(
      Type.Array(
        Type.Object({
          field: Type.String({ description: 'The field it is about.' }),
          message: Type.String({ description: 'What is wrong with it.' }),
        }),
      ),
    ),
  },
  { description: 'The body of every answer that is not a success.' },
)
export type ErrorBody = Static<typeof ErrorBody>
