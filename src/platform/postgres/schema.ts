import { queryOf } from './database_url.ts'

/** PostgreSQL keeps names that begin with pg_ for itself. */
const NAME = /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,62}$/
const SEARCH_PATH = /(?<=^|\s)(?:-c\s*|--)search_path=(\S+)/g

export const isSchemaName = (name: string): boolean => NAME.test(name)

/** The schema of addresses that name none. */
export const DEFAULT_SCHEMA = 'public'

/** The schema is part of the address as libpq expects it, so psql understands it too. */
export function withSchema(url: string, schema: string): string {
  const options = encodeURIComponent(`-c search_path=${schema}`)
  return `${url}${url.includes('?') ? '&' : '?'}options=${options}`
}

/** The address in this schema, or null if its options name another one, or none. */
export function inSchema(url: string, schema: string | null): string | null {
  if (optionsOf(url) === '') return schema === null ? url : withSchema(url, schema)
  return (searchPathOf(url) ?? DEFAULT_SCHEMA) === (schema ?? DEFAULT_SCHEMA) ? url : null
}

/** Null for the database's default. */
export function schemaOf(url: string): string | null {
  const name = searchPathOf(url)
  return name !== null && name !== DEFAULT_SCHEMA && isSchemaName(name) ? name : null
}

/** Of several, the last one counts. It may be a list of schemas, which is no schema of a cell. */
export const searchPathOf = (url: string): string | null =>
  [...optionsOf(url).matchAll(SEARCH_PATH)].at(-1)?.[1] ?? null

export const optionsOf = (url: string): string => queryOf(url).get('options') ?? ''

/**
 * Statements read this setting where PostgreSQL has one thing for all schemas of a database: in
 * advisory locks and in channels. Its value is null without a schema.
 */
export const SCHEMA_SETTING = `nullif(current_setting('florin.schema', true), '')`

/**
 * The options of a connection that its URL asks for. There is no second schema in the search path:
 * a table that is missing in a cell must not be found in another one.
 */
export function settingsOfUrl(url: string): string[] {
  const schema = schemaOf(url)
  const given = optionsOf(url)
  return [
    ...(given === '' ? [] : [given]),
    ...(schema === null ? [] : [`-c florin.schema=${schema}`]),
  ]
}
