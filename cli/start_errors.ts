import { embeddedOwner } from '#platform/embedded_postgres/embedded_postgres.ts'
import { RemoteError } from '#platform/runtime/process_channel.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import type { Settings } from '#settings/settings.ts'

/** Two services cannot share one data directory, so this is checked before anything starts. */
export async function requireFreeDataDir({ database_url, data_dir }: Settings): Promise<void> {
  const owner = database_url === null ? await embeddedOwner(data_dir) : null
  if (owner !== null) throw new ConfigError(owner)
}

type ListenError = { code?: unknown; port?: unknown }

export function explainError(cause: unknown, { iso_port }: Settings): unknown {
  const { code, port } = cause as ListenError
  if (cause instanceof RemoteError && cause.kind === 'ConfigError') {
    return new ConfigError(cause.message)
  }
  if (code !== 'EADDRINUSE') return cause
  const name = port === iso_port ? 'FLORIN_ISO_PORT' : 'FLORIN_PORT'
  return new ConfigError(`Port ${port} is already in use. Set ${name} to a free port.`)
}
