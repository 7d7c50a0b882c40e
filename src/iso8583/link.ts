import { assert } from '#kernel/assert.ts'
import type { Encoding, TextEncoding } from './encoding.ts'
import type { ElementRow, ElementTable, Kind, Masking } from './spec.ts'

/** A link says how one peer encodes the data elements. The codec reads only the compiled form. */
export type LinkTable = {
  readonly name: string
  /** The first digit of every MTI: the version of the standard. */
  readonly version: '0' | '1' | '2'
  readonly elements: ElementTable
  readonly mti: TextEncoding | 'bcd'
  /** Eight bytes, or sixteen hex digits as text. */
  readonly bitmap: 'bin' | TextEncoding
  readonly encodings: Readonly<Record<Kind, Encoding>>
  readonly lengths: Encoding
  readonly pads: Readonly<Record<'n' | 'z', Padding>>
  readonly frame: FrameShape
  /** The format of the tags in element 48; null if unknown, and then nothing of it is shown. */
  readonly private_tags: PrivateTags | null
  readonly overrides: Readonly<Record<number, Override>>
}

/** The position and value of the spare nibble of an odd number of packed digits. */
type Padding = { readonly side: 'left' | 'right'; readonly nibble: '0' | 'f' }

/** The length counts header and body. The header is not interpreted. */
export type FrameShape = { readonly length_bytes: 2 | 4; readonly header_bytes: number }

/** Characters before the first tag, and the tags with card verification or address data. */
type PrivateTags = { readonly skip: number; readonly hidden: readonly string[] }

type Override = {
  readonly kind?: Kind
  readonly length_max?: number
  readonly ll?: ElementRow[3]
  readonly masking?: Masking
  readonly encoding?: Encoding
  readonly lengths?: Encoding
  readonly pad?: Padding
  /** The unit of the length prefix of packed digits; digits by default. */
  readonly counts?: 'digits' | 'bytes'
}

/** One element of one link, with everything the codec would otherwise compute per message. */
export type Layout = {
  readonly element: number
  readonly kind: Kind
  readonly length_max: number
  readonly masking: Masking
  readonly encoding: Encoding
  /** 0 for an element of fixed length. */
  readonly prefix_bytes: number
  readonly prefix_digits: number
  readonly prefix_encoding: Encoding
  readonly counts_bytes: boolean
  readonly pad_left: boolean
  readonly pad_nibble: number
}

export type Link = Pick<
  LinkTable,
  'name' | 'version' | 'mti' | 'bitmap' | 'frame' | 'private_tags'
> & {
  readonly mti_bytes: number
  /** The length of one bitmap of 64 bits. */
  readonly bitmap_bytes: number
  /** By element number; undefined for elements that the link does not have. */
  readonly layouts: readonly (Layout | undefined)[]
  /** The same in ascending order and without gaps. */
  readonly elements: readonly Layout[]
}

export const ELEMENT_MAX = 128

/** The longest message that the card host reads or writes. */
export const MESSAGE_MAX_BYTES = 8192

export function compileLink(table: LinkTable): Link {
  const layouts: (Layout | undefined)[] = new Array(ELEMENT_MAX + 1).fill(undefined)
  for (const [key, row] of Object.entries(table.elements)) {
    const element = Number(key)
    // Bits 1 and 65 announce the secondary and tertiary bitmap, so they have no value.
    assert(element > 1 && element <= ELEMENT_MAX && element !== 65, 'element number in range')
    layouts[element] = compileElement(table, element, row)
  }
  return {
    name: table.name,
    version: table.version,
    mti: table.mti,
    bitmap: table.bitmap,
    frame: table.frame,
    private_tags: table.private_tags,
    mti_bytes: table.mti === 'bcd' ? 2 : 4,
    bitmap_bytes: table.bitmap === 'bin' ? 8 : 16,
    layouts,
    elements: layouts.filter((layout) => layout !== undefined),
  }
}

function compileElement(table: LinkTable, element: number, row: ElementRow): Layout {
  const override = table.overrides[element] ?? {}
  const [, row_kind, row_length_max, row_ll, row_masking] = row
  const kind = override.kind ?? row_kind
  const length_max = override.length_max ?? row_length_max
  const encoding = override.encoding ?? table.encodings[kind]
  const prefix_encoding = override.lengths ?? table.lengths
  const ll = override.ll ?? row_ll
  const pad = override.pad ?? table.pads[kind === 'z' ? 'z' : 'n']
  assert(encoding !== 'bcd' || kind === 'n' || kind === 'z', 'only digits and tracks are packed')
  assert(encoding !== 'bin' || kind === 'b', 'only kind b is binary')
  assert(ll === 0 || length_max < 10 ** ll, 'the longest value fits its length prefix')
  return {
    element,
    kind,
    length_max,
    masking: override.masking ?? row_masking,
    encoding,
    prefix_bytes: prefixBytes(ll, prefix_encoding, length_max),
    prefix_digits: ll,
    prefix_encoding,
    counts_bytes: ll > 0 && encoding === 'bcd' && override.counts === 'bytes',
    pad_left: pad.side === 'left',
    pad_nibble: Number.parseInt(pad.nibble, 16),
  }
}

function prefixBytes(ll: number, encoding: Encoding, length_max: number): number {
  if (ll === 0) return 0
  if (encoding === 'bcd') return (ll + 1) >> 1
  if (encoding === 'bin') return length_max < 256 ? 1 : 2
  return ll
}

/** The encoded size of that many characters of an element. */
export function bytesOfCharacters(layout: Layout, count: number): number {
  if (layout.encoding === 'bcd' || layout.encoding === 'bin') return (count + 1) >> 1
  return count
}

/** The encoded size of an element, including its length prefix. */
export function encodedSizeOf(layout: Layout, value: string): number {
  return layout.prefix_bytes + bytesOfCharacters(layout, value.length)
}
