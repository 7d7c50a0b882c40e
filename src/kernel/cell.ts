/**
 * A cell is a database with the whole schema and a share of the accounts. IDs and secrets carry the
 * number of their cell, so a call finds its database without a lookup. Those of cell 0 carry none:
 * everything made before there were cells belongs to it.
 */
export const CELLS_MAX = 128

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const MARK_LENGTH = 2

/** Two characters that name a cell. */
export const cellMark = (cell: number): string => `${ALPHABET[cell >> 5]}${ALPHABET[cell & 31]}`

/** Null if the characters name no cell. */
export function cellOfMark(mark: string): number | null {
  const cell = ALPHABET.indexOf(mark[0] ?? '') * 32 + ALPHABET.indexOf(mark[1] ?? '')
  const isMark = mark.length === MARK_LENGTH && cellMark(cell) === mark
  return isMark && cell < CELLS_MAX ? cell : null
}

/** The mark follows the random part, so no random bit is lost. */
export const markSecret = (secret: string, cell: number): string =>
  cell === 0 ? secret : secret + cellMark(cell)

/** The cell of a secret that has `length` characters without a mark; null if it names none. */
export function cellOfSecret(secret: string, length: number): number | null {
  if (secret.length === length) return 0
  return secret.length === length + MARK_LENGTH ? cellOfMark(secret.slice(length)) : null
}

/** All cells derive deposit addresses from one key, so each has a range of indexes. */
export const INDEXES_PER_CELL = 2 ** 24

export const cellOfAddressIndex = (index: number): number => Math.floor(index / INDEXES_PER_CELL)
