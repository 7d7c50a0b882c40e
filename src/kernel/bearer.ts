/** Null without a header; a header of another form is a bearer that nobody has. */
export function bearerOf(header: string | undefined): string | null {
  if (header === undefined || header === '') return null
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? ''
}
