/** A progress line that overwrites itself; silent unless stderr is a terminal. */
export function progressLine(label: string): { update(text: string): void; end(): void } {
  const { stderr } = process
  if (!stderr.isTTY) return { update: () => undefined, end: () => undefined }
  return {
    update: (text) => void stderr.write(`\r\u001b[K${label} ${text}`),
    end: () => void stderr.write('\r\u001b[K'),
  }
}
