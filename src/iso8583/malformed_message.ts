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
 * The only thing this room throws at bytes or values that are not what they should be. It names
 * the element and the reason and never the value, so it may be logged as it is.
 */
export class MalformedMessage extends Error {
  /** Null when the fault lies in the MTI, the bitmap or the frame, before any element. */
  readonly element: number | null
  readonly reason: MalformedReason

  constructor(element: number | null, reason: MalformedReason) {
    super(element === null ? reason : `element ${element}: ${reason}`)
    this.name = 'MalformedMessage'
    this.element = element
    this.reason = reason
  }
}
