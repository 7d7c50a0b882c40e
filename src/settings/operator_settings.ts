import { Secret } from '#kernel/secret.ts'
import { ConfigError, type Environment } from '#platform/settings/environment.ts'
import type { Mode, ServerSettings } from '#platform/settings/server_settings.ts'

export type OperatorSettings = {
  /** The first administrator's token; the others are rows in the database. */
  operator_token: Secret | null
  /** The lifetime of a new operator token. */
  operator_token_days: number
  /** The lifetime of operator_token from its first use; null: it doesn't expire. */
  first_operator_token_days: number | null
  /** The origin of the console and the operator API; null: the public one. */
  operator_url: string | null
}

/** The length of 128 random bits in hexadecimal. */
const TOKEN_LENGTH_MIN = 32

const DEFAULT_TOKEN_DAYS = 90
const TOKEN_DAYS_MAX = 3_650

export function readOperatorSettings(env: Environment, server: ServerSettings): OperatorSettings {
  const operator_token = readToken(env, server.mode)
  const days = Number(env['FLORIN_OPERATOR_TOKEN_DAYS'] || DEFAULT_TOKEN_DAYS)
  if (!Number.isInteger(days) || days < 1 || days > TOKEN_DAYS_MAX) {
    throw new ConfigError(
      `FLORIN_OPERATOR_TOKEN_DAYS must be a whole number of days from 1 to ${TOKEN_DAYS_MAX}.`,
    )
  }
  return {
    operator_token,
    operator_token_days: days,
    first_operator_token_days: server.mode === 'live' ? days : null,
    operator_url: readOperatorUrl(env, server),
  }
}

function readToken(env: Environment, mode: Mode): Secret | null {
  const token = env['FLORIN_OPERATOR_TOKEN'] || null
  if (mode === 'live' && token !== null && token.length < TOKEN_LENGTH_MIN) {
    throw new ConfigError(
      `FLORIN_OPERATOR_TOKEN is too short for live mode: use ${TOKEN_LENGTH_MIN} random ` +
        'characters or more, for instance from `openssl rand -hex 32`.',
    )
  }
  return token === null ? null : new Secret(token)
}

const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost']

/** By default the live console is reachable only on the machine itself and through tunnels. */
function readOperatorUrl(
  env: Environment,
  { mode, port, public_url }: ServerSettings,
): string | null {
  const url = env['FLORIN_OPERATOR_URL'] || (mode === 'live' ? `http://127.0.0.1:${port}` : null)
  if (url === null) return null
  const { protocol, hostname, pathname } = URL.canParse(url) ? new URL(url) : new URL('none:')
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname))
  if (!isSafe || pathname !== '/') {
    throw new ConfigError(
      'FLORIN_OPERATOR_URL must be an https address without a path, or http on loopback.',
    )
  }
  if (mode === 'live' && hostname === new URL(public_url).hostname) {
    throw new ConfigError(
      'FLORIN_OPERATOR_URL must name another host than FLORIN_PUBLIC_URL in live mode.',
    )
  }
  return url
}
