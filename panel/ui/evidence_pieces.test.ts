import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { EvidencePieces } from './evidence_pieces.tsx'

const [piece] = sample('get_dispute').evidence
assert(piece !== undefined)
const file = { ...piece, file_name: 'receipt.pdf', size_bytes: 48_213, note: 'See the date.' }
const note = { ...piece, id: `${piece.id.slice(0, -1)}0`, kind: 'note' as const, note: 'It broke.' }
const without_file = { ...note, file_name: null, size_bytes: null }

test('a piece shows its file, note, kind and size, and only files can be downloaded', async (t) => {
  const saved: string[] = []
  const saveFile = async (_piece: unknown, file_name: string) => {
    saved.push(file_name)
  }
  const page = await open(t, EvidencePieces, { evidence: [file, without_file], saveFile })
  assert.match(page.text(), /receipt\.pdf.*See the date\..*47\.1 kB.*It broke\. Note/)
  await page.click('button', /^Download/)
  assert.deepEqual(saved, ['receipt.pdf'])
})

test('a download that fails is reported', async (t) => {
  const saveFile = () => Promise.reject(new Error('No such file.'))
  const page = await open(t, EvidencePieces, { evidence: [file], saveFile })
  await page.click('button', 'Download receipt.pdf')
  assert.deepEqual(page.toasts(), ['No such file.'])
})
