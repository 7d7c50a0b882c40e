import { Secret } from '#kernel/secret.ts'

/** Who may run the programme, and from where. */
export type OperatorSettings = {
  /** The token in the settings: an administrator without a row. */
  operator_token: Secret | null
}

type Environment = Readonly<Record<string, string | undefined>>

/** As long as 128 random bits in hexadecimal: nobody guesses it. */
const TOKEN_LENGTH_MIN = 32

/** A sentence where something is wrong. */
export function operatorSettingsFrom(
  env: Environment,
  mode: 'sandbox' | 'live',
): OperatorSettings | string {
  const token = env['FLORIN_OPERATOR_TOKEN'] || null
  if (mode === 'live' && token !== null && token.length < TOKEN_LENGTH_MIN) {
    return (
      `FLORIN_OPERATOR_TOKEN is too short for live mode: use ${TOKEN_LENGTH_MIN} random ` +
      'characters or more, for instance from `openssl rand -hex 32`.'
    )
  }
  return { operator_token: token === null ? null : new Secret(token) }
}
