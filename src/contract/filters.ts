import Type from 'typebox'
import { ID_BODY_PATTERN, type IdPrefix } from '#kernel/id.ts'
import { EXAMPLE_BODY } from './shapes.ts'

/**
 * A query parameter that takes one or more free-form values, separated by commas. Each value must
 * match a pattern, so a malformed filter is an error instead of an empty list.
 */
export const StringList = (description: string, options: { example: string; each?: string }) => {
  const each = options.each ?? '[^,\\s]+'
  return Type.Optional(
    Type.String({
      pattern: `^(${each})(,(${each}))*$`,
      maxLength: 2000,
      description: `${description} Comma-separated.`,
      examples: [options.example],
    }),
  )
}

/** Rows that OAuth clients created, or, for transactions, whose cards they issued. */
export const AgentList = StringList('OAuth client ID.', {
  example: 'q1vKmTzvQ0eGZbN1X5mYj',
})

/** A list of IDs with one prefix. An ID of another kind is refused, not searched for. */
export const IdList = (prefix: IdPrefix, description: string) =>
  StringList(description, {
    each: `${prefix}_${ID_BODY_PATTERN}`,
    example: `${prefix}_${EXAMPLE_BODY}`,
  })
