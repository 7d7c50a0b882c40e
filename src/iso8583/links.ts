import { compileLink, type LinkTable } from './link.ts'
import { elements_1987 } from './spec.ts'

/**
 * The five links we know. The default one is the contract's; the other four show the shapes that
 * networks and acquirers use, and a real peer's table starts as a copy of the nearest.
 */
const ascii_table: LinkTable = {
  name: 'ascii',
  version: '0',
  elements: elements_1987,
  mti: 'ascii',
  bitmap: 'bin',
  encodings: { n: 'ascii', an: 'ascii', ans: 'ascii', b: 'bin', z: 'ascii' },
  lengths: 'ascii',
  pads: { n: { side: 'left', nibble: '0' }, z: { side: 'right', nibble: 'f' } },
  frame: { length_bytes: 2, header_bytes: 0 },
  private_tags: { skip: 0, hidden: ['92'] },
  overrides: {},
}

/** A link without a single unprintable byte: bitmaps and binary elements are hex digits. */
const ascii_hex_table: LinkTable = {
  ...ascii_table,
  name: 'ascii_hex',
  bitmap: 'ascii',
  encodings: { ...ascii_table.encodings, b: 'ascii' },
}

/** The standard allows letters in currency codes; packed digits have no room for them. */
const packed_currencies = { 49: { kind: 'n' }, 50: { kind: 'n' }, 51: { kind: 'n' } } as const

const bcd_table: LinkTable = {
  ...ascii_table,
  name: 'bcd',
  mti: 'bcd',
  encodings: { ...ascii_table.encodings, n: 'bcd', z: 'bcd' },
  lengths: 'bcd',
  overrides: packed_currencies,
}

const BYTE_MAX = 255
const bitmapped = { kind: 'b', length_max: BYTE_MAX } as const

/** Elements whose standard length does not fit a length prefix of one byte. */
const one_byte_lengths: LinkTable['overrides'] = Object.fromEntries(
  Object.entries(elements_1987)
    .filter(([, [, , length_max]]) => length_max > BYTE_MAX)
    .map(([element]) => [element, { length_max: BYTE_MAX }]),
)

/** Packed numbers, EBCDIC text and one binary byte for every length, hence at most 255 of each. */
const visa_like_table: LinkTable = {
  ...ascii_table,
  name: 'visa_like',
  mti: 'bcd',
  encodings: { n: 'bcd', an: 'ebcdic', ans: 'ebcdic', b: 'bin', z: 'bcd' },
  lengths: 'bin',
  pads: { n: { side: 'left', nibble: '0' }, z: { side: 'left', nibble: '0' } },
  frame: { length_bytes: 4, header_bytes: 22 },
  private_tags: null,
  overrides: {
    ...one_byte_lengths,
    ...packed_currencies,
    62: bitmapped,
    63: bitmapped,
    126: bitmapped,
  },
}

/** EBCDIC throughout; element 48 opens with a category letter, and 120 carries the address. */
const mastercard_like_table: LinkTable = {
  ...ascii_table,
  name: 'mastercard_like',
  mti: 'ebcdic',
  encodings: { n: 'ebcdic', an: 'ebcdic', ans: 'ebcdic', b: 'bin', z: 'ebcdic' },
  lengths: 'ebcdic',
  private_tags: { skip: 1, hidden: ['82', '83', '92'] },
  overrides: { 120: { show: 'drop' } },
}

export const link_tables = {
  ascii: ascii_table,
  ascii_hex: ascii_hex_table,
  bcd: bcd_table,
  visa_like: visa_like_table,
  mastercard_like: mastercard_like_table,
} as const satisfies Record<string, LinkTable>

export type LinkName = keyof typeof link_tables

export const links = {
  ascii: compileLink(ascii_table),
  ascii_hex: compileLink(ascii_hex_table),
  bcd: compileLink(bcd_table),
  visa_like: compileLink(visa_like_table),
  mastercard_like: compileLink(mastercard_like_table),
} as const

/** The contract's default link: ASCII elements, binary bitmaps, two bytes of length. */
export const default_link = links.ascii
