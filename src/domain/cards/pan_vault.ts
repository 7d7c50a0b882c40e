import { computeCvv, isValidCvv, KEY_PAIR_BYTES } from '#iso8583/cvv.ts'
import { generatePan } from '#iso8583/pan.ts'
import { CELLS_MAX } from '#kernel/cell.ts'
import { Secret } from '#kernel/secret.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Keys } from '#platform/storage/keys.ts'
import type { CellSettings } from '#settings/cell_settings.ts'
import type { CardRow } from './card.ts'
import type { StoredPan } from './card_store.ts'

/**
 * The only code that handles card numbers. Each is encrypted for its card under a key outside the
 * database and looked up by a keyed hash. CVVs are computed on demand and never stored.
 */
export type NewPan = StoredPan & { last4: string }

const PURPOSE = 'pan'

/**
 * A random number within the BIN. It may be taken; the unique pan_hash shows that on insert. With
 * several cells, numbers are drawn until the hash names this cell, 128 on average: the digits stay
 * random, and no range of a BIN fills up before the others.
 */
export function createPan(
  { keys, random, settings }: { keys: Keys; random: Random; settings: CellSettings },
  bin: string,
  card_id: string,
): NewPan {
  for (;;) {
    const pan = generatePan(bin, random.below)
    const pan_hash = panHash(keys, pan)
    if (settings.more_cells.length > 0 && cellOfPan(pan_hash) !== settings.cell) continue
    return { last4: pan.slice(-4), pan_sealed: sealPan(keys, card_id, pan), pan_hash }
  }
}

/**
 * The cell that a number's hash names. Numbers issued before there were several cells are in cell 0
 * whatever their hash names.
 */
export function cellOfPan(pan_hash: string): number {
  const bytes = Buffer.from(pan_hash.slice(0, 2), 'base64url')
  return (bytes[0] ?? 0) % CELLS_MAX
}

/** The key under which a number from the network is looked up. */
export function panHash(keys: Keys, pan: string): string {
  return keys.fingerprint(PURPOSE, pan)
}

export function sealPan(keys: Keys, card_id: string, pan: string): string {
  return keys.seal(PURPOSE, card_id, pan)
}

export function openPan(keys: Keys, card_id: string, pan_sealed: string): Secret {
  return new Secret(keys.open(PURPOSE, card_id, pan_sealed))
}

/** Both networks compute the printed CVV2/CVC2 with service code 000. */
const PRINTED_SERVICE_CODES: Readonly<Record<CardRow['brand'], string>> = {
  visa: '000',
  mastercard: '000',
}

type CvvFields = Pick<CardRow, 'brand' | 'exp_month' | 'exp_year'>

function cvvInput(card: CvvFields, pan: string) {
  const year = String(card.exp_year % 100).padStart(2, '0')
  const month = String(card.exp_month).padStart(2, '0')
  return { pan, expiry: year + month, service_code: PRINTED_SERVICE_CODES[card.brand] }
}

/** The current key pair first. During a rotation, CVVs of the previous pair stay valid. */
const keyPairs = (keys: Keys) => keys.materials('cvk', KEY_PAIR_BYTES)

export function cvvOf(keys: Keys, card: CvvFields, pan: string): Secret {
  return new Secret(computeCvv(keyPairs(keys)[0], cvvInput(card, pan)))
}

export function isCvvOf(
  keys: Keys,
  card: CvvFields,
  { pan, cvv }: { pan: string; cvv: string },
): boolean {
  return keyPairs(keys).some((pair) => isValidCvv(pair, cvvInput(card, pan), cvv))
}
