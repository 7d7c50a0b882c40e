import { createHash } from 'node:crypto'
import { SCHEMA_SETTING } from './schema.ts'
import type { Tx } from './tx.ts'

/** A schema's name may be as long as a channel's, so it is hashed. */
const HASH_LENGTH = 16
const CHANNEL_IN_SCHEMA = `$1::text ||
  coalesce('_' || left(md5(${SCHEMA_SETTING}), ${HASH_LENGTH}), '')`

/** The name of a channel: a database has one set of channels for all its schemas. */
export function channelIn(schema: string | null, channel: string): string {
  if (schema === null) return channel
  return `${channel}_${createHash('md5').update(schema).digest('hex').slice(0, HASH_LENGTH)}`
}

/** Notifies the listeners of this cell when the transaction is committed. */
export async function notify(tx: Tx, channel: string, payload: string): Promise<void> {
  await tx.rows(`select pg_notify(${CHANNEL_IN_SCHEMA}, $2)`, [channel, payload])
}
