import type pg from 'pg'

const names = new Map<string, string>()

/** Statements are prepared under a name: planning them anew costs a third of the throughput. */
export function prepared(text: string, params: readonly unknown[]): pg.QueryConfig {
  let name = names.get(text)
  if (name === undefined) {
    name = `s${names.size}`
    names.set(text, name)
  }
  return { name, text, values: params as unknown[] }
}

const counted_texts = new Map<string, string>()

/** The statement, failing where it does not touch as many rows as its last parameter says. */
export function preparedWithCount(
  text: string,
  params: readonly unknown[],
  count: number,
): pg.QueryConfig {
  let counting = counted_texts.get(text)
  if (counting === undefined) {
    counting = `with changed as (${text} returning 1)
      select require_count(count(*), $${params.length + 1}) from changed`
    counted_texts.set(text, counting)
  }
  return prepared(counting, [...params, count])
}

/** What require_count raises. */
export const NOT_AS_MANY = 'FL001'
