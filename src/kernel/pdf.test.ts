import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPdf } from '#test/support/pdf.ts'
import { fitText, type PdfPage, textWidth, writePdf } from './pdf.ts'

async function* pagesOf(...pages: string[][]): AsyncGenerator<PdfPage> {
  for (const texts of pages) {
    yield { texts: texts.map((text) => ({ x: 10, y: 10, size: 9, text })), lines: [] }
  }
}

const created_at = new Date('2026-11-16T12:00:00.000Z')

async function written(...pages: string[][]): Promise<Buffer> {
  const chunks: Buffer[] = []
  const title = 'A (small) title'
  for await (const chunk of writePdf(pagesOf(...pages), { title, created_at })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

test('a file has its pages in order, with every object where the table says', async () => {
  const pages = Array.from({ length: 120 }, (_, at) => [`Page ${at}`, 'Text'])
  assert.deepEqual(readPdf(await written(...pages)), pages)
})

test('parentheses and backslashes are text, and unknown letters are question marks', async () => {
  const [texts] = readPdf(await written(['a (b) \\ c) Tj', 'Café', '寿司 ok', 'line\nbreak']))
  assert.deepEqual(texts, ['a (b) \\ c) Tj', 'Café', '?? ok', 'line?break'])
})

test('a text that is too wide is shortened to its column', () => {
  assert.equal(fitText('short', 9, 100), 'short')
  const fitted = fitText('a very long description of a purchase', 9, 60)
  assert.match(fitted, /^a very.*\.\.\.$/)
  assert.ok(textWidth(fitted, 9) <= 60)
})
