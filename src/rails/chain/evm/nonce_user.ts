import {
  hexOf,
  isRefusal,
  type JsonRpc,
  listOf,
  numberOf,
  objectOf,
  quantity,
} from '#rails/chain/json_rpc.ts'
import type { NonceUser, StoredTransfer } from '#rails/chain/sender.ts'
import { rawTransactionOf } from './signed_transaction.ts'

type Place = { from: string; nonce: number }

/** The first nonce of an address that no transaction up to this block has. */
export async function nextNonce(rpc: JsonRpc, address: string, tag: string): Promise<number> {
  return numberOf(await rpc('eth_getTransactionCount', [`0x${address}`, tag]), 'a count')
}

/** No method finds a transaction by its nonce, so this searches for the block that used it. */
export async function findNonceUser(
  rpc: JsonRpc,
  { from, nonce }: StoredTransfer,
  final_number: number,
): Promise<NonceUser | null> {
  if (nonce === null) return null
  const place = { from, nonce: Number(nonce) }
  const block = await blockOf(rpc, place, final_number).catch(nullIfRefused)
  return block === null ? null : findInBlock(rpc, place, block)
}

/** Nodes without old state refuse to count there, some with a status of their own. */
function nullIfRefused(cause: unknown): null {
  if (isRefusal(cause)) return null
  throw cause
}

/** Looks back from the final block in steps that double, because the nonce was used recently. */
async function blockOf(
  rpc: JsonRpc,
  { from, nonce }: Place,
  final_number: number,
): Promise<number | null> {
  const isUsedAt = async (block: number) =>
    block >= 0 && (await nextNonce(rpc, from, quantity(block))) > nonce
  if (!(await isUsedAt(final_number))) return null
  let used = final_number
  let unused = final_number - 1
  while (await isUsedAt(unused)) {
    used = unused
    unused = final_number - 2 * (final_number - unused)
  }
  while (used - unused > 1) {
    const middle = Math.floor((used + unused) / 2)
    if (await isUsedAt(middle)) used = middle
    else unused = middle
  }
  return used
}

async function findInBlock(
  rpc: JsonRpc,
  { from, nonce }: Place,
  number: number,
): Promise<NonceUser | null> {
  const block = objectOf(await rpc('eth_getBlockByNumber', [quantity(number), true]), 'a block')
  for (const value of listOf(block['transactions'], 'transactions')) {
    const transaction = objectOf(value, 'a transaction')
    const isFromSender = hexOf(transaction['from'], 20, 'a sender') === from
    if (!isFromSender || numberOf(transaction['nonce'], 'a nonce') !== nonce) continue
    return { txid: hexOf(transaction['hash'], 32, 'a txid'), raw: rawTransactionOf(transaction) }
  }
  return null
}
