/**
 * Something correct came too late. It fails a test like everything else, but the runner does not
 * count it if the host took CPU time away in every attempt.
 */
class TooLate extends Error {
  override name = 'TooLate'
}

export function assertOnTime(is_on_time: boolean, what: string): void {
  if (!is_on_time) throw new TooLate(what)
}

/** A card message that is not decided within its deadline gets the response 91. */
export const assertDecided = (code: string | undefined, what: string): void =>
  assertOnTime(code !== '91', `${what} got the response 91`)
