import { access, constants } from 'node:fs/promises'
import { embeddedOwner } from '#platform/embedded_postgres/embedded_postgres.ts'
import { RemoteError } from '#platform/runtime/process_channel.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import type { Settings } from '#settings/settings.ts'

/**
 * Two services cannot share one data directory, so this is checked before anything starts. One that
 * is read-only would otherwise be noticed by the process of the sandbox's signer.
 */
export async function requireFreeDataDir(settings: Settings): Promise<void> {
  const { database_url, data_dir } = settings
  await access(data_dir, constants.W_OK).catch((cause: NodeJS.ErrnoException) => {
    // It is created later.
    if (cause.code !== 'ENOENT') throw explainError(cause, settings)
  })
  const owner = database_url === null ? await embeddedOwner(data_dir) : null
  if (owner !== null) throw new ConfigError(owner)
}

type SystemError = {
  code?: unknown
  syscall?: unknown
  port?: unknown
  address?: unknown
  hostname?: unknown
  path?: unknown
}

/** A fault of the machine that a setting can correct, as a sentence that names the setting. */
export function explainError(cause: unknown, settings: Settings): unknown {
  if (cause instanceof RemoteError && cause.kind === 'ConfigError') {
    return new ConfigError(cause.message)
  }
  const error = cause as SystemError
  const sentence = listenFault(error, settings) ?? folderFault(error, settings)
  return sentence === null ? cause : new ConfigError(sentence, { cause })
}

/** Null if this is not a failure to listen. */
function listenFault(
  { code, syscall, port, address, hostname }: SystemError,
  { host, iso_host, iso_port }: Settings,
): string | null {
  if (code === 'EADDRINUSE') {
    const name = port === iso_port ? 'FLORIN_ISO_PORT' : 'FLORIN_PORT'
    return `Port ${port} is already in use. Set ${name} to a free port.`
  }
  if (syscall === 'listen') {
    const names =
      port === iso_port ? 'FLORIN_ISO_HOST and FLORIN_ISO_PORT' : 'FLORIN_HOST and FLORIN_PORT'
    return `Florin cannot listen on ${address} and port ${port} (${code}). Correct ${names}.`
  }
  if (syscall !== 'getaddrinfo') return null
  const name = hostname === host ? 'FLORIN_HOST' : hostname === iso_host ? 'FLORIN_ISO_HOST' : null
  return name && `${name} is "${hostname}", which is not an address of this machine.`
}

const FOLDER_CODES = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'EEXIST']

/** Null if this is not a failure to write to the data directory. */
function folderFault({ code, path }: SystemError, { data_dir }: Settings): string | null {
  const isInside = path === data_dir || String(path).startsWith(`${data_dir}/`)
  if (!isInside || !FOLDER_CODES.includes(String(code))) return null
  return `Florin cannot write to ${path} (${code}). Correct FLORIN_DATA_DIR or its permissions.`
}
