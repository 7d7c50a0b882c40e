import { Secret } from '#kernel/secret.ts'

/** Who may run the programme, and from where. */
export type OperatorSettings = {
  /** The token in the settings: an administrator without a row. */
  operator_token: Secret | null
  /** How long a new operator token works. */
  operator_token_days: number
  /** How long the token of the settings works from its first use; null: for ever. */
  first_operator_token_days: number | null
  /** The origin of the console and the operator's API; null: they share the public one. */
  operator_url: string | null
}

type Environment = Readonly<Record<string, string | undefined>>

/** As long as 128 random bits in hexadecimal: nobody guesses it. */
const TOKEN_LENGTH_MIN = 32

const DAYS_STANDARD = 90
const DAYS_MAX = 3_650

/** A sentence where something is wrong. */
export function operatorSettingsFrom(
  env: Environment,
  { mode, port, public_url }: { mode: 'sandbox' | 'live'; port: number; public_url: string },
): OperatorSettings | string {
  const token = env['FLORIN_OPERATOR_TOKEN'] || null
  if (mode === 'live' && token !== null && token.length < TOKEN_LENGTH_MIN) {
    return (
      `FLORIN_OPERATOR_TOKEN is too short for live mode: use ${TOKEN_LENGTH_MIN} random ` +
      'characters or more, for instance from `openssl rand -hex 32`.'
    )
  }
  const days = Number(env['FLORIN_OPERATOR_TOKEN_DAYS'] || DAYS_STANDARD)
  if (!Number.isInteger(days) || days < 1 || days > DAYS_MAX) {
    return `FLORIN_OPERATOR_TOKEN_DAYS must be a whole number of days from 1 to ${DAYS_MAX}.`
  }
  // Live mode without an address of its own keeps the console to the machine and to tunnels.
  const own = mode === 'live' ? `http://127.0.0.1:${port}` : null
  const operator_url = env['FLORIN_OPERATOR_URL'] || own
  const fault = operator_url === null ? null : whyNoOrigin(operator_url, mode, public_url)
  if (fault !== null) return fault
  return {
    operator_token: token === null ? null : new Secret(token),
    operator_token_days: days,
    first_operator_token_days: mode === 'live' ? days : null,
    operator_url,
  }
}

const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost']

function whyNoOrigin(url: string, mode: string, public_url: string): string | null {
  const { protocol, hostname, pathname } = URL.canParse(url) ? new URL(url) : new URL('none:')
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname))
  if (!isSafe || pathname !== '/') {
    return 'FLORIN_OPERATOR_URL must be an https address without a path, or http on loopback.'
  }
  if (mode === 'live' && hostname === new URL(public_url).hostname) {
    return 'FLORIN_OPERATOR_URL must name another host than FLORIN_PUBLIC_URL in live mode.'
  }
  return null
}
