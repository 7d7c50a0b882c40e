/** A connection sends the same header with every request, and a text that was read is read. */
let last = { header: '', bearer: '' }

/** Null without a header; a header of another form is a bearer that nobody has. */
export function bearerOf(header: string | undefined): string | null {
  if (header === undefined || header === '') return null
  if (header !== last.header) {
    last = { header, bearer: /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? '' }
  }
  return last.bearer
}
