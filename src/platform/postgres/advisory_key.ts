import { SCHEMA_SETTING } from './schema.ts'

/** Advisory locks belong to a whole database, and each of its schemas may be a cell. */
const KEYS_OF_SCHEMA = `coalesce(hashtext(${SCHEMA_SETTING})::bigint << 32, 0)`

/** SQL: the key of an advisory lock on the text of the first parameter. Each kind has a number. */
export const keyOfText = (kind = 0): string => `hashtextextended($1, ${kind} + ${KEYS_OF_SCHEMA})`

/** SQL: the key of an advisory lock on the number of the first parameter. */
export const KEY_OF_NUMBER = `$1::bigint + ${KEYS_OF_SCHEMA}`
