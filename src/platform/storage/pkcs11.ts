import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { TokenSettings } from '#platform/settings/pkcs11_settings.ts'

/**
 * Encrypts or decrypts a few bytes with an AES key that never leaves its token. OpenSC's
 * `pkcs11-tool` speaks to the vendor's library in a process of its own, so no native module has to
 * be compiled into the service, and a library that crashes takes only that process with it. Called
 * at the start and when the key file has changed: a call takes some 40 ms with SoftHSM.
 */
export function runOnToken(
  { module, token, pin_file }: TokenSettings,
  {
    verb,
    key_id,
    iv,
    data,
  }: { verb: 'encrypt' | 'decrypt'; key_id: string; iv: string; data: Buffer },
): Buffer {
  const words = [
    ...['--module', module, '--token-label', token, '--login', '--pin', 'env:FLORIN_TOKEN_PIN'],
    // By id and not by label: without a match for its label the tool takes another key.
    ...[`--${verb}`, '--mechanism', 'AES-CBC-PAD', '--iv', iv, '--id', key_id],
  ]
  const pin = readFileSync(pin_file, 'utf8').trim()
  const { status, stdout, stderr, error } = spawnSync('pkcs11-tool', words, {
    input: data,
    timeout: TIMEOUT_MS,
    // Not on its command line, which every user of the machine can read.
    env: { ...process.env, FLORIN_TOKEN_PIN: pin },
  })
  if (error !== undefined) {
    throw new Error(`pkcs11-tool (Debian: opensc) cannot be run: ${error.message}`)
  }
  if (status !== 0 || stdout.length === 0) {
    const said = stderr.toString('utf8').trim().split('\n')
    const why = said.find((line) => /^error|rv = CKR|No slot/.test(line)) ?? 'it has no such key'
    throw new Error(`The token ${token} could not ${verb} with the key ${key_id}: ${why.trim()}`)
  }
  return stdout
}

const TIMEOUT_MS = 10_000
