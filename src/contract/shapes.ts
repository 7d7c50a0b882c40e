import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import type { IdPrefix } from '#kernel/id.ts'

/** Schemas shared by every section of the contract. */

export const Nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

/** A string enum. `type` is explicit because some tools do not infer it from the members. */
export const StringEnum = <const Values extends readonly string[]>(
  values: Values,
  options: { description?: string; default?: Values[number]; examples?: Values[number][] } = {},
) => Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options })

/** A query parameter that takes one or more enum values, separated by commas. */
export const EnumList = <const Values extends readonly string[]>(
  values: Values,
  description: string,
) =>
  Type.Unsafe<string>({
    type: 'string',
    pattern: `^(${values.join('|')})(,(${values.join('|')}))*$`,
    maxLength: 2_000,
    description: `${description} Comma-separated. Allowed: ${values.join(', ')}.`,
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

/**
 * A text that somebody will read. Blanks alone are refused: a ticket without a visible subject
 * cannot be opened from a list.
 */
export const Text = (description: string, length_max: number, example: string) =>
  Type.String({
    description,
    minLength: 1,
    maxLength: length_max,
    pattern: '\\S',
    examples: [example],
  })

/** An amount in a response. */
export const Usd = (description: string) => Type.Number({ description, examples: [25.5] })

/**
 * An amount in a request. Input validation reads `x-decimals`: an amount with more decimal places,
 * or with more digits than can be held exactly, is refused as `invalid_amount`.
 */
export const UsdInput = (
  description: string,
  options: { decimals?: 2 | 6; examples?: number[] } = {},
) =>
  Type.Number({
    description: `${description} Up to ${options.decimals ?? 2} decimal places.`,
    examples: options.examples ?? [25.5],
    'x-decimals': options.decimals ?? 2,
  })

export const Metadata = Type.Record(Type.String(), Type.String(), {
  description: 'Key-value pairs you attached to the object.',
  examples: [{ order: 'A-1009' }],
})

/** A pattern instead of minLength/maxLength: a record's key schema keeps only the pattern. */
const MetadataKey = Type.String({ pattern: '^[\\s\\S]{1,40}$' })

export const MetadataInput = Type.Record(MetadataKey, Type.String({ maxLength: 500 }), {
  additionalProperties: false,
  maxProperties: 20,
  description:
    'Key-value pairs for your own use: up to 20, keys up to 40 characters, values up to 500.',
  examples: [{ order: 'A-1009' }],
})

/** Fields of every mutable object. */
export const versioned = {
  version: Type.Integer({ description: 'Incremented by 1 with each change.', examples: [1] }),
  created_at: Timestamp('Time of creation.'),
  updated_at: Timestamp('Time of the last change.'),
}

/** Query parameters of every list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 25,
      description: 'Number of objects per page.',
      examples: [25],
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      description:
        '`next_cursor` from the previous page. Only valid with the same filters and order.',
    }),
  ),
  order: Type.Optional(
    StringEnum(['desc', 'asc'], {
      default: 'desc',
      description: 'desc: newest first. asc: oldest first.',
      examples: ['desc'],
    }),
  ),
  created_gt: Type.Optional(Timestamp('Created after this time.')),
  created_gte: Type.Optional(Timestamp('Created at or after this time.')),
  created_lt: Type.Optional(Timestamp('Created before this time.')),
  created_lte: Type.Optional(Timestamp('Created at or before this time.')),
}

/** Inputs reject unknown fields: a silently ignored filter or amount is dangerous for agents. */
export const Input = <Properties extends TProperties>(
  properties: Properties,
): TObject<Properties> => Type.Object(properties, { additionalProperties: false })

export const Page = <Row extends TSchema>(row: Row) =>
  Type.Object({
    data: Type.Array(row),
    next_cursor: Nullable(
      Type.String({
        description: 'Pass this as `cursor` to get the next page. Null on the last page.',
      }),
    ),
    has_more: Type.Boolean({ description: 'True if there are more objects after this page.' }),
  })

export const Password = Type.String({
  description: 'The account password.',
  maxLength: 256,
  examples: ['correct horse battery staple'],
})

export const TotpCode = Type.String({
  description: 'Six-digit code from the authenticator app. Each code works once.',
  maxLength: 32,
  examples: ['492039'],
})

export const NoContent = Type.Object({}, { description: 'No content.' })

export const ErrorBody = Type.Object(
  {
    error: Type.String({
      description: 'Machine-readable error code. Stable.',
      examples: ['invalid_request'],
    }),
    message: Type.String({ description: 'Human-readable explanation.' }),
    request_id: Type.String({
      description: 'ID of the request. Include it when you contact support.',
    }),
    details: Type.Optional(
      Type.Array(
        Type.Object({
          field: Type.String({ description: 'The field that was rejected.' }),
          message: Type.String({ description: 'What is wrong with the field.' }),
        }),
      ),
    ),
    approval: Type.Optional(
      Type.Object(
        {
          id: Id('apr', 'ID of the approval.'),
          url: Type.String({
            description: 'The page where the account owner approves or declines.',
            examples: [`https://pay.example/approvals/apr_${EXAMPLE_BODY}`],
          }),
          expires_at: Timestamp('The owner can decide until then.'),
        },
        { description: 'Only with `approval_required`: what the account owner must decide.' },
      ),
    ),
  },
  { description: 'Returned with every 4xx and 5xx status.' },
)
export type ErrorBody = Static<typeof ErrorBody>
