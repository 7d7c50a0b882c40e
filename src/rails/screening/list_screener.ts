import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { bytesToHex } from '@noble/hashes/utils.js'
import { bytesFromEvmHex } from '#rails/chain/evm/address.ts'
import { bytesFromTronAddress, bytesFromTronHex } from '#rails/chain/tron/address.ts'
import type { AddressScreener } from './screening.ts'

type List = { version: string; changed_ms: number; size: number; blocked: ReadonlySet<string> }

/**
 * Screens against a file: one address a line in any chain's spelling, # begins a remark. An owner
 * has the same 20 bytes on TRON and on EVM chains, so one line blocks both. The file is looked at
 * on every question and read again when it has changed; a file that cannot be read is an error and
 * no permission.
 */
export function listScreener(path: string): AddressScreener {
  let list: List | null = null
  const current = async (): Promise<List> => {
    const { mtimeMs, size } = await stat(path)
    if (list?.changed_ms === mtimeMs && list.size === size) return list
    const text = await readFile(path, 'utf8')
    const version = createHash('sha256').update(text).digest('hex').slice(0, 16)
    list = { version, changed_ms: mtimeMs, size, blocked: new Set(addressesIn(text)) }
    return list
  }
  return {
    screen: async ({ address }) => {
      const { blocked, version } = await current()
      const decision = blocked.has(folded(address)) ? 'block' : 'allow'
      return { decision, source: 'list_file', list_version: version }
    },
    reload: async () => {
      list = null
      const { version } = await current()
      return { source: 'list_file', list_version: version }
    },
  }
}

function addressesIn(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*$/, '').trim())
    .filter((line) => line !== '')
    .map(folded)
}

/** The 20 bytes where it is an address of ours; else the text as it stands. */
function folded(address: string): string {
  const bytes =
    bytesFromTronAddress(address) ?? bytesFromTronHex(address) ?? bytesFromEvmHex(address)
  return bytes === null ? address : bytesToHex(bytes)
}
