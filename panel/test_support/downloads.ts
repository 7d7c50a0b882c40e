import type { TestContext } from 'node:test'

type Download = { name: string; text: string }

/** Keeps the files that a page saves, as the browser would: by a link to a blob. */
export function collectDownloads(t: TestContext): () => Promise<Download[]> {
  const blobs = new Map<string, Blob>()
  const saved: { name: string; blob: Blob }[] = []
  t.mock.method(URL, 'createObjectURL', (blob: Blob) => {
    const href = `blob:${blobs.size}`
    blobs.set(href, blob)
    return href
  })
  t.mock.method(URL, 'revokeObjectURL', () => undefined)
  t.mock.method(HTMLAnchorElement.prototype, 'click', function (this: HTMLAnchorElement) {
    const blob = blobs.get(this.getAttribute('href') ?? '')
    if (blob !== undefined) saved.push({ name: this.download, blob })
  })
  return () => Promise.all(saved.map(async ({ name, blob }) => ({ name, text: await blob.text() })))
}
