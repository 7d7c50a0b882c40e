import { assert } from '#kernel/assert.ts'
import type { Encoding, TextEncoding } from './encoding.ts'
import type { ElementRow, ElementTable, Kind, Masking } from './spec.ts'

/**
 * A link is a table laid over the data elements: how each kind stands on the wire of one peer. The
 * engine reads only the compiled form and knows no network.
 */
export type LinkTable = {
  readonly name: string
  /** The first digit of every MTI: the edition of the standard. */
  readonly version: '0' | '1' | '2'
  readonly elements: ElementTable
  readonly mti: TextEncoding | 'bcd'
  /** Eight bytes, or sixteen hex digits as text. */
  readonly bitmap: 'bin' | TextEncoding
  readonly encodings: Readonly<Record<Kind, Encoding>>
  readonly lengths: Encoding
  readonly pads: Readonly<Record<'n' | 'z', Pad>>
  readonly frame: FrameShape
  /** How element 48 is cut into tags; null when only the network knows, and nothing is shown. */
  readonly private_tags: PrivateTags | null
  readonly overrides: Readonly<Record<number, Override>>
}

/** Where the spare nibble of an odd number of packed digits stands, and what fills it. */
export type Pad = { readonly side: 'left' | 'right'; readonly nibble: '0' | 'f' }

/** The length counts header and body; the header is opaque to us. */
export type FrameShape = { readonly length_bytes: 2 | 4; readonly header_bytes: number }

/** Characters before the first tag, and the tags that carry card verification or address data. */
export type PrivateTags = { readonly skip: number; readonly hidden: readonly string[] }

export type Override = {
  readonly kind?: Kind
  readonly length_max?: number
  readonly ll?: ElementRow[3]
  readonly show?: Masking
  readonly encoding?: Encoding
  readonly lengths?: Encoding
  readonly pad?: Pad
  /** What a length prefix in front of packed digits counts; digits unless said. */
  readonly counts?: 'digits' | 'bytes'
}

/** One element of one link, with everything the engine would otherwise work out per message. */
export type Layout = {
  readonly element: number
  readonly kind: Kind
  readonly length_max: number
  readonly show: Masking
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
  /** Bytes of one bitmap of 64 bits. */
  readonly bitmap_bytes: number
  /** By element number; undefined where the link knows no such element. */
  readonly layouts: readonly (Layout | undefined)[]
  /** The same, ascending and without gaps: the order in which a message has its elements. */
  readonly elements: readonly Layout[]
}

export const ELEMENT_MAX = 128

/** The longest body we read or write: the frame limit of the card host. */
export const MESSAGE_MAX_BYTES = 8192

export function compileLink(table: LinkTable): Link {
  const layouts: (Layout | undefined)[] = new Array(ELEMENT_MAX + 1).fill(undefined)
  for (const [key, row] of Object.entries(table.elements)) {
    const element = Number(key)
    // Element 1 is the bit of the second bitmap and 65 that of a third, so neither has a value.
    assert(element > 1 && element <= ELEMENT_MAX && element !== 65, 'an element has a number')
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
  const [, row_kind, row_length_max, row_ll, row_show] = row
  const kind = override.kind ?? row_kind
  const length_max = override.length_max ?? row_length_max
  const encoding = override.encoding ?? table.encodings[kind]
  const prefix_encoding = override.lengths ?? table.lengths
  const ll = override.ll ?? row_ll
  const pad = override.pad ?? table.pads[kind === 'z' ? 'z' : 'n']
  assert(encoding !== 'bcd' || kind === 'n' || kind === 'z', 'only digits and tracks are packed')
  assert(encoding !== 'bin' || kind === 'b', 'only bytes stand as they are')
  assert(ll === 0 || length_max < 10 ** ll, 'the longest value fits its length prefix')
  return {
    element,
    kind,
    length_max,
    show: override.show ?? row_show,
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

/** The bytes that so many characters of an element's value take on the wire. */
export function bytesOfCharacters(layout: Layout, count: number): number {
  if (layout.encoding === 'bcd' || layout.encoding === 'bin') return (count + 1) >> 1
  return count
}

/** The bytes that an element with this value takes, its length prefix included. */
export function encodedSizeOf(layout: Layout, value: string): number {
  return layout.prefix_bytes + bytesOfCharacters(layout, value.length)
}
