import { spawnSync } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { TokenSettings } from './pkcs11_settings.ts'

type Encryption = { verb: 'encrypt' | 'decrypt'; key_id: string; iv: string; data: Buffer }

/** Encrypts or decrypts a few bytes with an AES key that never leaves its token. */
export function runOnToken(
  settings: TokenSettings,
  { verb, key_id, iv, data }: Encryption,
): Buffer {
  const words = [`--${verb}`, '--mechanism', 'AES-CBC-PAD', '--iv', iv]
  return runTool(settings, { verb, key_id, words, input: data })
}

/** Signs a hash with an EC key that never leaves its token: r and s, 32 bytes each. */
export function signOnToken(settings: TokenSettings, key_id: string, hash: Uint8Array): Buffer {
  const words = ['--sign', '--mechanism', 'ECDSA', '--signature-format', 'rs']
  return runTool(settings, { verb: 'sign', key_id, words, input: hash })
}

/** The uncompressed point of an EC key in the token. */
export function publicKeyOnToken(settings: TokenSettings, key_id: string): Buffer {
  const words = ['--read-object', '--type', 'pubkey']
  const der = runTool(settings, { verb: 'read the public key', key_id, words, input: '' })
  const { x = '', y = '' } = createPublicKey({ key: der, format: 'der', type: 'spki' }).export({
    format: 'jwk',
  })
  return Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
}

type ToolRun = { verb: string; key_id: string; words: string[]; input: Uint8Array | string }

/**
 * OpenSC's `pkcs11-tool` calls the vendor's library in a separate process, so no native module is
 * compiled into the service and a crash of the library ends only that process. A call takes about
 * 40 ms with SoftHSM.
 */
function runTool(
  { module, token, pin_file }: TokenSettings,
  { verb, key_id, words: action, input }: ToolRun,
): Buffer {
  const words = [
    ...['--module', module, '--token-label', token, '--login', '--pin', 'env:FLORIN_TOKEN_PIN'],
    // By ID and not by label: if no label matches, the tool uses another key.
    ...[...action, '--id', key_id],
  ]
  const pin = readFileSync(pin_file, 'utf8').trim()
  const { status, stdout, stderr, error } = spawnSync('pkcs11-tool', words, {
    input,
    timeout: TIMEOUT_MS,
    // Every user of the machine can read a command line, but not the environment.
    env: { ...process.env, FLORIN_TOKEN_PIN: pin },
  })
  if (error !== undefined) {
    throw new Error(`pkcs11-tool (Debian: opensc) cannot be run: ${error.message}`)
  }
  if (status !== 0 || stdout.length === 0) {
    const lines = stderr.toString('utf8').trim().split('\n')
    const why = lines.find((line) => /^error|rv = CKR|No slot/.test(line)) ?? 'it has no such key'
    throw new Error(`The token ${token} could not ${verb} with the key ${key_id}: ${why.trim()}`)
  }
  return stdout
}

const TIMEOUT_MS = 10_000
