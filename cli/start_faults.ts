import { ConfigError, type Settings } from '#platform/config.ts'
import { embeddedOwner } from '#platform/embedded_postgres.ts'

/** What newcomers meet first, in a sentence: somebody else has the folder or the port. */

/** Before anything is begun: of two services on one folder neither would serve well. */
export async function requireIdleFolder({ database_url, data_dir }: Settings): Promise<void> {
  const owner = database_url === null ? await embeddedOwner(data_dir) : null
  if (owner !== null) throw new ConfigError(owner)
}

type ListenFault = { code?: unknown; port?: unknown }

export function explainFault(cause: unknown, { iso_port }: Settings): unknown {
  const { code, port } = cause as ListenFault
  if (code !== 'EADDRINUSE') return cause
  const name = port === iso_port ? 'FLORIN_ISO_PORT' : 'FLORIN_PORT'
  return new ConfigError(`Port ${port} is in use by another program. Choose one with ${name}.`)
}
