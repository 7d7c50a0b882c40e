/** How far something long has come, on a line that is written over; only where a person watches. */
export function progressLine(label: string): { tell(text: string): void; end(): void } {
  const { stderr } = process
  if (!stderr.isTTY) return { tell: () => undefined, end: () => undefined }
  return {
    tell: (text) => void stderr.write(`\r\u001b[K${label} ${text}`),
    end: () => void stderr.write('\r\u001b[K'),
  }
}
