import { Secret as OtpSecret, TOTP } from 'otpauth'
import type { Random } from '#platform/runtime/random.ts'

/** Authenticator codes: six digits, 30 seconds, SHA-1, which is what every app understands. */
const PERIOD_S = 30
const DIGITS = 6
const SECRET_BYTES = 20
const WINDOW_STEPS = 1

export function newTotpSecret(random: Random): string {
  const bytes = Uint8Array.from(random.bytes(SECRET_BYTES))
  return new OtpSecret({ buffer: bytes.buffer }).base32
}

export function totpUri(secret: string, email: string): string {
  return totp(secret, email).toString()
}

/**
 * The time step a code belongs to, one step of drift allowed either way; null for a wrong code. The
 * caller must use up that step, or the same code would work again.
 */
export function totpStepOf(secret: string, code: string, wall: Date): bigint | null {
  const digits = code.replaceAll(' ', '')
  if (!/^\d{6}$/.test(digits)) return null
  const timestamp = wall.getTime()
  const drift = totp(secret, '').validate({ token: digits, timestamp, window: WINDOW_STEPS })
  return drift === null ? null : BigInt(Math.floor(timestamp / 1_000 / PERIOD_S) + drift)
}

function totp(secret: string, label: string): TOTP {
  return new TOTP({
    issuer: 'Florin',
    label,
    secret: OtpSecret.fromBase32(secret),
    period: PERIOD_S,
    digits: DIGITS,
  })
}

const RECOVERY_CODES = 10
const RECOVERY_LETTERS = 'abcdefghjkmnpqrstvwxyz23456789'

/** Ten codes of ten letters each, written in two groups. */
export function newRecoveryCodes(random: Random): string[] {
  const letter = () => RECOVERY_LETTERS[random.below(RECOVERY_LETTERS.length)]
  const group = () => Array.from({ length: 5 }, letter).join('')
  return Array.from({ length: RECOVERY_CODES }, () => `${group()}-${group()}`)
}

/** As it is compared: people leave out the hyphen and type capitals. */
export function foldRecoveryCode(code: string): string {
  return code.toLowerCase().replaceAll(/[\s-]/g, '')
}
