/** Null without a header; a header of another form is an unknown bearer. */
export function bearerOf(header: string | undefined): string | null {
  if (header === undefined || header === '') return null
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? ''
}
