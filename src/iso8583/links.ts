import { compileLink, type LinkTable } from './link.ts'
import { elements_1987 } from './spec.ts'

/**
 * The supported links. The contract defines the default one. The others are typical of networks
 * and acquirers; copy the closest one to add a real peer.
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

/** Printable characters only: bitmaps and binary elements are hex digits. */
const ascii_hex_table: LinkTable = {
  ...ascii_table,
  name: 'ascii_hex',
  bitmap: 'ascii',
  encodings: { ...ascii_table.encodings, b: 'ascii' },
}

/** The standard allows letters in currency codes; packed digits do not. */
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

/** Shortens the elements whose standard length does not fit a one-byte length prefix. */
const one_byte_lengths: LinkTable['overrides'] = Object.fromEntries(
  Object.entries(elements_1987)
    .filter(([, [, , length_max]]) => length_max > BYTE_MAX)
    .map(([element]) => [element, { length_max: BYTE_MAX }]),
)

/** Packed numbers, EBCDIC text and one-byte length prefixes. */
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

/** EBCDIC only. Element 48 begins with a category letter; 120 has the cardholder's address. */
const mastercard_like_table: LinkTable = {
  ...ascii_table,
  name: 'mastercard_like',
  mti: 'ebcdic',
  encodings: { n: 'ebcdic', an: 'ebcdic', ans: 'ebcdic', b: 'bin', z: 'ebcdic' },
  lengths: 'ebcdic',
  private_tags: { skip: 1, hidden: ['82', '83', '92'] },
  overrides: { 120: { masking: 'drop' } },
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

/** The contract's default link: ASCII elements, binary bitmaps, two-byte frame length. */
export const default_link = links.ascii
