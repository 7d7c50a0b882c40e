import Type from 'typebox'
import { ID_BODY_PATTERN, type IdPrefix } from '#kernel/id.ts'
import { EXAMPLE_BODY } from './shapes.ts'

/**
 * In a query: one value or several, separated by commas, where the values are no closed set. The
 * shape of a single value is said as a pattern, so that a malformed filter is refused and does not
 * quietly find nothing.
 */
export const Several = (description: string, options: { example: string; each?: string }) => {
  const each = options.each ?? '[^,\\s]+'
  return Type.Optional(
    Type.String({
      pattern: `^(${each})(,(${each}))*$`,
      maxLength: 2000,
      description: `${description} One or several, separated by commas.`,
      examples: [options.example],
    }),
  )
}

/** Ids of one kind. One that could be nobody's is a slip, and is told rather than looked for. */
export const SeveralIds = (prefix: IdPrefix, description: string) =>
  Several(description, {
    each: `${prefix}_${ID_BODY_PATTERN}`,
    example: `${prefix}_${EXAMPLE_BODY}`,
  })
