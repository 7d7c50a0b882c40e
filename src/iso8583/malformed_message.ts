export type MalformedReason =
  | 'bad_mti'
  | 'bad_bitmap'
  | 'tertiary_bitmap'
  | 'unknown_element'
  | 'bad_length_prefix'
  | 'over_length'
  | 'wrong_length'
  | 'wrong_characters'
  | 'bad_subfield'
  | 'truncated'
  | 'trailing_bytes'

/**
 * The only error this folder throws for invalid bytes or values. It names the element and the
 * reason but never the value, so it is safe to log.
 */
export class MalformedMessage extends Error {
  /** Null for a fault in the frame, the MTI or the bitmap. */
  readonly element: number | null
  readonly reason: MalformedReason

  constructor(element: number | null, reason: MalformedReason) {
    super(element === null ? reason : `element ${element}: ${reason}`)
    this.name = 'MalformedMessage'
    this.element = element
    this.reason = reason
  }
}
