import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { requireTool } from './tools.ts'

const PIN = '4711'
const TOKEN = 'florin'

export type SoftHsm = {
  /** The service's settings for the token with this key. */
  envFor(key_id: string): Record<string, string>
  /** Creates an AES key that cannot be extracted from the token. */
  makeKey(key_id: string): void
  /** Creates a secp256k1 key for the hot wallet. */
  makeSigningKey(key_id: string): void
  pin_file: string
}

/** Creates a software token in `folder`; without SoftHSM and OpenSC the test is skipped. */
export function startSoftHsm(folder: string, t: TestContext): SoftHsm | undefined {
  const module = requireTool('libsofthsm2.so', t)
  const util = requireTool('softhsm2-util', t)
  const tool = requireTool('pkcs11-tool', t)
  if (module === undefined || util === undefined || tool === undefined) return undefined
  const tokens = join(folder, 'tokens')
  mkdirSync(tokens)
  const SOFTHSM2_CONF = join(folder, 'softhsm2.conf')
  writeFileSync(SOFTHSM2_CONF, `directories.tokendir = ${tokens}\nobjectstore.backend = file\n`)
  const pin_file = join(folder, 'pin')
  writeFileSync(pin_file, `${PIN}\n`, { mode: 0o600 })
  const env = { ...process.env, SOFTHSM2_CONF }
  const run = (command: string, ...words: string[]) =>
    execFileSync(command, words, { env, stdio: 'pipe' })
  const login = ['--module', module, '--token-label', TOKEN, '--login', '--pin', PIN]
  const make = (...words: string[]): void =>
    void run(tool, ...login, ...words, '--label', 'florin', '--sensitive')
  run(util, '--init-token', '--free', '--label', TOKEN, '--pin', PIN, '--so-pin', '12345678')
  return {
    pin_file,
    envFor: (key_id) => ({
      SOFTHSM2_CONF,
      FLORIN_PKCS11_MODULE: module,
      FLORIN_PKCS11_TOKEN: TOKEN,
      FLORIN_PKCS11_KEY_ID: key_id,
      FLORIN_PKCS11_PIN_FILE: pin_file,
    }),
    makeKey: (key_id) => make('--keygen', '--key-type', 'AES:32', '--id', key_id),
    makeSigningKey: (key_id) =>
      make('--keypairgen', '--key-type', 'EC:secp256k1', '--usage-sign', '--id', key_id),
  }
}
