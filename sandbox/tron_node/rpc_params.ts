import { invalidParams } from './rpc_error.ts'
import type { View } from './view.ts'

/** TRON does not support `pending` and `safe`. */
export function blockNumberOf(view: View, tag: unknown): number {
  if (tag === 'latest') return view.head_number
  if (tag === 'finalized') return view.solid_number
  if (tag === 'earliest') return 0
  if (tag === 'pending' || tag === 'safe') throw invalidParams(`TAG ${tag} not supported`)
  if (typeof tag !== 'string' || !/^0x[0-9a-fA-F]{1,13}$/.test(tag)) {
    throw invalidParams('invalid block number')
  }
  return Number.parseInt(tag, 16)
}

/** 64 lowercase hex digits without 0x. */
export function hashOf(value: unknown): string {
  if (typeof value !== 'string' || !/^(?:0x)?[0-9a-fA-F]{64}$/.test(value)) {
    throw invalidParams('invalid hash value')
  }
  return value.slice(-64).toLowerCase()
}

/** 20 bytes, or TRON's 21 with the prefix 41. */
export function addressOf(value: unknown): string {
  const match = typeof value === 'string' ? /^(?:0x)?(?:41)?([0-9a-f]{40})$/i.exec(value) : null
  if (match?.[1] === undefined) throw invalidParams('invalid address')
  return match[1].toLowerCase()
}

/** Only the newest state is available. */
export function requireLatest(tag: unknown): void {
  if (tag === undefined || tag === 'latest') return
  throw invalidParams('QUANTITY not supported, just support TAG as latest')
}
