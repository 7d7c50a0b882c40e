import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { collectDownloads } from '#panel/test_support/downloads.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open, type Page } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { AddEvidence } from './add_evidence.tsx'
import { EvidenceList } from './evidence_list.tsx'

const [piece] = sample('get_dispute').evidence
assert(piece !== undefined)
const dispute = sample('get_dispute', { status: 'open', evidence: [] })
const UPLOAD = `POST /v1/disputes/${dispute.id}/evidence` as const
const evidence = sample('add_dispute_evidence')

async function choose(page: Page, ...names: string[]): Promise<void> {
  const input = page.get('file', /^Drop files/) as HTMLInputElement
  const files = names.map((name) => new File([`content of ${name}`], name))
  Object.defineProperty(input, 'files', { value: files, configurable: true })
  input.dispatchEvent(new Event('change', { bubbles: true }))
  await page.settle()
}

test('add_evidence: files are uploaded one after another, the note with the first', async (t) => {
  const service = serve(t, { [UPLOAD]: evidence })
  const page = await open(t, AddEvidence, { dispute })
  await choose(page, 'receipt.pdf', 'photo.png')
  await page.fill('File type', 'screenshot')
  await page.fill('Note', 'See the date.')
  await page.click('button', 'Add evidence')
  const sent = service.sent(UPLOAD).map(({ kind, note }) => [kind, note])
  assert.deepEqual(sent, [
    ['screenshot', 'See the date.'],
    ['screenshot', undefined],
  ])
  assert.equal(page.valueOf('Note'), '')
  assert(!page.has('button', /^Remove/))
})

test('add_evidence: after a failed upload the unsent files remain, and the note is not sent twice', async (t) => {
  let uploads = 0
  const service = serve(t, {
    [UPLOAD]: () => {
      uploads += 1
      return uploads === 2 ? refuse('evidence_too_large', 'The file is too large.') : evidence
    },
  })
  const page = await open(t, AddEvidence, { dispute })
  await choose(page, 'one.pdf', 'two.pdf')
  await page.fill('Note', 'See the date.')
  await page.click('button', 'Add evidence')
  assert.match(page.get('alert').textContent ?? '', /too large/)
  assert(!page.has('button', 'Remove one.pdf'))
  assert(page.has('button', 'Remove two.pdf'))
  await page.click('button', 'Add evidence')
  const notes = service.sent(UPLOAD).map(({ note }) => note)
  assert.deepEqual(notes, ['See the date.', undefined, undefined])
})

test('add_evidence: a note alone is evidence too, and stays if it is refused', async (t) => {
  const service = serve(t, { add_dispute_evidence: refuse('dispute_closed', 'It is closed.') })
  const page = await open(t, AddEvidence, { dispute })
  await page.fill('Note', 'They answered today.')
  await page.click('button', 'Add evidence')
  const sent = { id: dispute.id, kind: 'note', note: 'They answered today.' }
  assert.deepEqual(service.sent('add_dispute_evidence'), [sent])
  assert.match(page.get('alert').textContent ?? '', /It is closed\./)
  assert.equal(page.valueOf('Note'), 'They answered today.')
})

test('add_evidence: a chosen file can be removed before it is sent', async (t) => {
  const service = serve(t, {})
  const page = await open(t, AddEvidence, { dispute })
  await choose(page, 'wrong.pdf')
  await page.click('button', 'Remove wrong.pdf')
  await page.click('button', 'Add evidence')
  assert.deepEqual(service.calls, [], 'without a file, a note is required')
})

test('evidence_list: a file is downloaded with its name, and a failure is reported', async (t) => {
  const downloads = collectDownloads(t)
  const file = { ...piece, file_name: 'receipt.pdf', size_bytes: 48_213 }
  const path = `GET /files/disputes/${file.dispute_id}/evidence/${file.id}` as const
  const service = serve(t, { [path]: new Response('PDF') })
  const page = await open(t, EvidenceList, { dispute: { ...dispute, evidence: [file] } })
  assert.match(page.text(), /47\.1 kB/)
  await page.click('button', 'Download receipt.pdf')
  assert.deepEqual(await downloads(), [{ name: 'receipt.pdf', text: 'PDF' }])
  service.answer({ [path]: refuse('not_found', 'No such file.') })
  await page.click('button', 'Download receipt.pdf')
  assert.deepEqual(page.toasts(), ['No such file.'])
})

test('evidence_list: without evidence it says what helps', async (t) => {
  const page = await open(t, EvidenceList, { dispute })
  assert.match(page.text(), /No evidence yet/)
})
