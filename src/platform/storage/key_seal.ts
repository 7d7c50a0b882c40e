import { createCipheriv, createDecipheriv } from 'node:crypto'
import { assert } from '#kernel/assert.ts'
import type { Random } from '#platform/runtime/random.ts'
import { runOnToken } from './pkcs11.ts'
import type { TokenSettings } from './pkcs11_settings.ts'

/** Encrypts the text of the key file on disk. */
export type KeyFileSeal = { open(text: string): string; seal(text: string): string }

/** Only the file mode protects the keys. */
export const unsealed: KeyFileSeal = { open: (text) => text, seal: (text) => text }

type SealedFile = {
  sealed_by: 'pkcs11'
  /** The token's key that encrypts `file_key`. */
  key_id: string
  iv: string
  file_key: string
  body: string
}

const FILE_KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const TOKEN_IV_BYTES = 16
const TAG = { authTagLength: TAG_BYTES }

/**
 * Seals the file with AES-256-GCM under its own key, which only the token can decrypt. The file
 * names the token's key, so to change it, configure another one and rotate. An unsealed file is
 * read as it is; the next rotation seals it.
 */
function tokenSeal(token: TokenSettings, random: Random): KeyFileSeal {
  return {
    open: (text) => {
      const file = sealedFileIn(text)
      if (file === null) return text
      const { key_id, iv } = file
      const data = Buffer.from(file.file_key, 'base64')
      const file_key = runOnToken(token, { verb: 'decrypt', key_id, iv, data })
      const body = Buffer.from(file.body, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', file_key, body.subarray(0, IV_BYTES), TAG)
      decipher.setAuthTag(body.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      const plain = decipher.update(body.subarray(IV_BYTES + TAG_BYTES))
      return Buffer.concat([plain, decipher.final()]).toString('utf8')
    },
    seal: (text) => {
      const data = Buffer.from(random.bytes(FILE_KEY_BYTES))
      const iv = Buffer.from(random.bytes(TOKEN_IV_BYTES)).toString('hex')
      const { key_id } = token
      const file_key = runOnToken(token, { verb: 'encrypt', key_id, iv, data })
      const body_iv = random.bytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', data, body_iv, TAG)
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      const file: SealedFile = {
        sealed_by: 'pkcs11',
        key_id,
        iv,
        file_key: file_key.toString('base64'),
        body: Buffer.concat([body_iv, cipher.getAuthTag(), body]).toString('base64'),
      }
      const sealed = `${JSON.stringify(file, null, 2)}\n`
      assert(
        tokenSeal(token, random).open(sealed) === text,
        'the token can decrypt what it has encrypted',
      )
      return sealed
    },
  }
}

export const sealFor = (token: TokenSettings | null, random: Random): KeyFileSeal =>
  token === null ? unsealed : tokenSeal(token, random)

function sealedFileIn(text: string): SealedFile | null {
  try {
    const file = JSON.parse(text) as SealedFile | null
    return file?.sealed_by === 'pkcs11' ? file : null
  } catch {
    return null
  }
}
