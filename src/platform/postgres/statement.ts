import type pg from 'pg'

/** By statement text; the service has a few hundred. */
const names = new Map<string, string>()

/**
 * A prepared statement, planned once per connection. Planning each execution costs a third of the
 * throughput (`npm run bench -- ledger`).
 */
export function prepared(text: string, params: readonly unknown[]): pg.QueryConfig {
  let name = names.get(text)
  if (name === undefined) {
    name = `s${names.size}`
    names.set(text, name)
  }
  return { name, text, values: params as unknown[] }
}

const counted_texts = new Map<string, string>()

/** The statement, which fails unless it changes exactly `count` rows. */
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

/** The SQLSTATE that the database function require_count raises. */
export const WRONG_ROW_COUNT = 'FL001'
