import { makeEngine } from '#domain/authorizations/engine.ts'
import { startCardHost } from '#doors/card_host/card_host.ts'
import { default_link } from '#iso8583/links.ts'
import { makeDependencies } from '#main/dependencies.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { SERVICE_ROLE } from '#platform/postgres/roles.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { readSettings } from '#settings/settings.ts'

/** A card host process for tests that kill it. It sends its port to the parent. */
const [data_dir = '', database_url = ''] = process.argv.slice(2)
const settings = readSettings({
  FLORIN_DATA_DIR: data_dir,
  FLORIN_DATABASE_URL: database_url,
  FLORIN_ISO_PORT: '0',
})
const limits = { statement_ms: 1_000, lock_ms: 300, idle_in_transaction_ms: 2_000 }
const db = openDatabase(database_url, {
  role: { name: SERVICE_ROLE, can_copy: true },
  pool_size: 2,
  limits,
  key_lookups: true,
})
const dependencies = await makeDependencies(settings, db, { log: silentLog })
const engine = makeEngine(dependencies)
const host = await startCardHost({ ...dependencies, engine, link: default_link }, settings)
process.on('disconnect', () => process.exit(0))
process.send?.(host.port)
