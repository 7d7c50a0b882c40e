import type { CardRow } from './card.ts'

/** A merchant as messages name it. */
export type MerchantName = { merchant_id: string | null; merchant_name: string }

/** DE 43 carries 25 characters of the merchant's name. */
const NETWORK_NAME_LENGTH = 25

/** By id where both sides have it, otherwise by name as the network carries it. */
export function isSameMerchant(one: MerchantName, other: MerchantName): boolean {
  if (one.merchant_id !== null && other.merchant_id !== null) {
    return one.merchant_id === other.merchant_id
  }
  return nameOnNetwork(one.merchant_name) === nameOnNetwork(other.merchant_name)
}

const nameOnNetwork = (name: string): string =>
  name.slice(0, NETWORK_NAME_LENGTH).trim().replace(/\s+/g, ' ').toLowerCase()

type Lock = Pick<CardRow, 'merchant_lock_name' | 'merchant_lock_id'>

/** A card without a lock is open to every merchant. */
export function isOpenToMerchant(card: Lock, merchant: MerchantName): boolean {
  const { merchant_lock_name, merchant_lock_id } = card
  if (merchant_lock_name === null) return true
  return isSameMerchant(
    { merchant_name: merchant_lock_name, merchant_id: merchant_lock_id },
    merchant,
  )
}
