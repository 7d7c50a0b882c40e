import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { bytesToHex } from '@noble/hashes/utils.js'
import { bytesFromEvmHex } from '#rails/chain/evm/address.ts'
import { bytesFromTronAddress, bytesFromTronHex } from '#rails/chain/tron/address.ts'
import { type AddressScreener, ScreeningUnavailable } from './screening.ts'

type BlockList = { version: string; changed_ms: number; size: number; blocked: ReadonlySet<string> }

/**
 * Screens against a file with one address per line in the format of any chain; # starts a comment.
 * An owner has the same 20 bytes on TRON and EVM chains, so one line blocks both. Every request
 * checks whether the file has changed. An unreadable file is an error, not an approval.
 */
export function listScreener(path: string): AddressScreener {
  let list: BlockList | null = null
  const unreadable = (cause: Error): never => {
    throw new ScreeningUnavailable(`The screening list ${path} can't be read.`, { cause })
  }
  const current = async (): Promise<BlockList> => {
    const { mtimeMs, size } = await stat(path).catch(unreadable)
    if (list?.changed_ms === mtimeMs && list.size === size) return list
    const text = await readFile(path, 'utf8').catch(unreadable)
    const version = createHash('sha256').update(text).digest('hex').slice(0, 16)
    list = { version, changed_ms: mtimeMs, size, blocked: new Set(parseAddresses(text)) }
    return list
  }
  return {
    screen: async ({ address }) => {
      const { blocked, version } = await current()
      const decision = blocked.has(normalizeAddress(address)) ? 'block' : 'allow'
      return { decision, source: 'list_file', list_version: version }
    },
    reload: async () => {
      list = null
      const { version } = await current()
      return { source: 'list_file', list_version: version }
    },
  }
}

function parseAddresses(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*$/, '').trim())
    .filter((line) => line !== '')
    .map(normalizeAddress)
}

/** The 20 bytes of a TRON or EVM address in hex; other text unchanged. */
function normalizeAddress(address: string): string {
  const bytes =
    bytesFromTronAddress(address) ?? bytesFromTronHex(address) ?? bytesFromEvmHex(address)
  return bytes === null ? address : bytesToHex(bytes)
}
