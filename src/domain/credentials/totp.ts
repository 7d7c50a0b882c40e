import { Secret as OtpSecret, TOTP } from 'otpauth'
import type { Random } from '#platform/runtime/random.ts'

/** Six digits, 30 seconds and SHA-1 work in every authenticator app. */
const PERIOD_S = 30
const DIGITS = 6
const SECRET_BYTES = 20
const WINDOW_STEPS = 1

export function generateTotpSecret(random: Random): string {
  const bytes = Uint8Array.from(random.bytes(SECRET_BYTES))
  return new OtpSecret({ buffer: bytes.buffer }).base32
}

export function totpUri(secret: string, email: string): string {
  return totp(secret, email).toString()
}

/**
 * Returns the time step of a code, or null if it is wrong. One step of clock drift is allowed. The
 * caller must consume the step, or the same code would work again.
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

const RECOVERY_CODE_COUNT = 10
const RECOVERY_ALPHABET = 'abcdefghjkmnpqrstvwxyz23456789'

/** Ten codes of two groups of five characters. */
export function generateRecoveryCodes(random: Random): string[] {
  const character = () => RECOVERY_ALPHABET[random.below(RECOVERY_ALPHABET.length)]
  const group = () => Array.from({ length: 5 }, character).join('')
  return Array.from({ length: RECOVERY_CODE_COUNT }, () => `${group()}-${group()}`)
}

/** Ignores hyphens, spaces and case. */
export function normalizeRecoveryCode(code: string): string {
  return code.toLowerCase().replaceAll(/[\s-]/g, '')
}
