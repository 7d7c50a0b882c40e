import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { assertRefused, auditLog, refusalOf } from '#test/support/calls.ts'
import { addEvidence, fileDispute, getDispute, openBuyer } from '#test/support/disputes.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { callTool } from '#test/support/mcp.ts'
import { operate } from '#test/support/operator.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService({ env: { FLORIN_UPLOAD_IDLE_SECONDS: '0.5' } })
const { url, data_dir } = service

const PDF = Buffer.from(`%PDF-1.7\n${'receipt '.repeat(100)}`)
const TEXT = { 'content-type': 'text/plain' }
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function openDispute() {
  const buyer = await openBuyer(service, 10)
  return { buyer, key: buyer.key, dispute: await fileDispute(url, buyer) }
}

/** Every file in the blob store, complete or not. */
const storedFiles = async () =>
  (await readdir(join(data_dir, 'evidence'), { recursive: true }).catch(() => [])).filter((path) =>
    path.includes('evd_'),
  )

/** A raw upload, described by the query string. */
const upload = (key: string, id: string, query: string, raw: string | Uint8Array, headers = {}) =>
  send(url, 'POST', `/v1/disputes/${id}/evidence${query}`, {
    bearer: key,
    raw,
    headers: { 'content-type': 'application/octet-stream', ...headers },
  })

async function uploadForm(key: string, id: string, form: FormData) {
  const response = await fetch(`${url}/v1/disputes/${id}/evidence`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}

test('a note is evidence and is shown in the dispute', async () => {
  const { buyer, key, dispute } = await openDispute()
  const reply = await addEvidence(url, key, dispute.id, { body: { kind: 'note', note: 'See.' } })
  assert.equal(reply.status, 200, reply.text)
  const [piece] = reply.body['evidence']
  assert.match(piece.id, /^evd_/)
  assert.deepEqual(
    { ...piece, id: '', created_at: '' },
    {
      id: '',
      dispute_id: dispute.id,
      kind: 'note',
      file_name: null,
      content_type: null,
      size_bytes: null,
      sha256: null,
      note: 'See.',
      created_at: '',
    },
  )
  assert.equal(reply.body['version'], dispute.version + 1)
  assert.deepEqual(await getDispute(url, key, dispute.id), reply.body)
  const entries = await auditLog(url, buyer.bearer, '&action=add_dispute_evidence')
  assert.equal(entries.length, 1)
})

test('a raw body is stored unchanged with its hash and downloaded as an attachment', async () => {
  const { key, dispute } = await openDispute()
  const reply = await upload(key, dispute.id, '?kind=receipt&file_name=../../r%C3%A4.pdf', PDF)
  assert.equal(reply.status, 200, reply.text)
  const [piece] = reply.body['evidence']
  assert.deepEqual(
    [piece.kind, piece.file_name, piece.content_type, piece.size_bytes, piece.sha256],
    ['receipt', 'rä.pdf', 'application/pdf', PDF.length, sha256(PDF)],
  )
  const paths = [
    [`/files/disputes/${dispute.id}/evidence/${piece.id}`, key],
    [`/operator/v1/disputes/${dispute.id}/evidence/${piece.id}`, 'operator_token_of_the_tests'],
  ] as const
  for (const [path, bearer] of paths) {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${bearer}` } })
    assert.equal(response.status, 200)
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), PDF)
    const header = (name: string) => response.headers.get(name)
    assert.equal(header('content-type'), 'application/pdf')
    assert.equal(header('x-content-type-options'), 'nosniff')
    assert.equal(header('content-length'), String(PDF.length))
    const disposition = header('content-disposition')
    assert.equal(disposition, `attachment; filename="r_.pdf"; filename*=UTF-8''r%C3%A4.pdf`)
    assert.match(String(header('content-security-policy')), /sandbox/)
  }
  const { body: actions } = await operate(url, 'GET', '/actions')
  const done = actions['data'] as { action: string; resource: object; account_id: string }[]
  // Listing the actions is itself the newest action.
  const read = done.find(({ action }) => action !== 'operator_list_actions')
  assert.deepEqual(
    [read?.action, read?.resource],
    ['operator_get_evidence', { type: 'evidence', id: piece.id }],
  )
  assert.match(read?.account_id ?? '', /^acct_/)
})

test('only its owner and operators can download a file', async () => {
  const { key, dispute } = await openDispute()
  const other = await openDispute()
  const { body } = await upload(key, dispute.id, '?kind=receipt', PDF)
  const path = `/files/disputes/${dispute.id}/evidence/${body['evidence'][0].id}`
  assertRefused(await send(url, 'GET', path, { bearer: other.key }), 404, 'not_found')
  assertRefused(await send(url, 'GET', path), 401, 'missing_token')
  const crossed = `/files/disputes/${other.dispute.id}/evidence/${body['evidence'][0].id}`
  assertRefused(await send(url, 'GET', crossed, { bearer: other.key }), 404, 'not_found')
  const note = await addEvidence(url, key, dispute.id, { body: { kind: 'note', note: 'x' } })
  const of_note = `/files/disputes/${dispute.id}/evidence/${note.body['evidence'][1].id}`
  assertRefused(await send(url, 'GET', of_note, { bearer: key }), 404, 'not_found')
})

test('a multipart form may send the file and its fields in any order', async () => {
  const { key, dispute } = await openDispute()
  const form = new FormData()
  form.set('file', new Blob([PDF], { type: 'image/png' }), 'my "receipt".pdf')
  form.set('kind', 'receipt')
  form.set('note', 'Paid in the shop.')
  const reply = await uploadForm(key, dispute.id, form)
  assert.equal(reply.status, 200, reply.text)
  const [piece] = reply.body['evidence']
  assert.deepEqual(
    [piece.kind, piece.note, piece.content_type, piece.sha256, piece.file_name],
    ['receipt', 'Paid in the shop.', 'application/pdf', sha256(PDF), 'my receipt.pdf'],
  )
  const note = new FormData()
  note.set('kind', 'note')
  note.set('note', 'Only words.')
  assert.equal((await uploadForm(key, dispute.id, note)).status, 200)
})

test('a small file can be sent as base64 in JSON', async () => {
  const { key, dispute } = await openDispute()
  const content_base64 = Buffer.from('Paid 25.50 USD\n').toString('base64')
  const body = { kind: 'receipt', file_name: 'r.txt', content_base64 }
  const reply = await addEvidence(url, key, dispute.id, { body })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body['evidence'][0].content_type, 'text/plain')
  for (const wrong of ['%%%', '', 'AAA*']) {
    const sent = { body: { kind: 'receipt', content_base64: wrong } }
    assertRefused(await addEvidence(url, key, dispute.id, sent), 400, 'invalid_request')
  }
  const zip = Buffer.from('PK\x03\x04\x14\0\0\0\x08\0abcdefghij').toString('base64')
  const sent = { body: { kind: 'receipt', content_base64: zip } }
  assertRefused(await addEvidence(url, key, dispute.id, sent), 415, 'unsupported_media_type')
})

test('an agent sends a small file as base64 in a tool call', async () => {
  const { key, dispute } = await openDispute()
  const given = { id: dispute.id, kind: 'receipt', file_name: 'r.pdf' }
  const content_base64 = PDF.toString('base64')
  const result = await callTool(url, 'add_dispute_evidence', { ...given, content_base64 }, key)
  assert.equal(result.isError, undefined, result.content[0]?.text)
  const { evidence } = await getDispute(url, key, dispute.id)
  assert.deepEqual(
    evidence.map(({ file_name, sha256: hash }) => [file_name, hash]),
    [['r.pdf', sha256(PDF)]],
  )
})

test('the name and declared type of a file are ignored, and a refused file is not stored', async () => {
  const { key, dispute } = await openDispute()
  const before = await storedFiles()
  const zip = Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(50_000, 7)])
  const page = '<!doctype html><script>alert(1)</script>'
  const png = { 'content-type': 'image/png' }
  const refused = [
    await upload(key, dispute.id, '?kind=other&file_name=bomb.png', zip, png),
    await upload(key, dispute.id, '?kind=other&file_name=page.txt', page, TEXT),
    await upload(key, dispute.id, '?kind=other', '', TEXT),
  ]
  for (const reply of refused.slice(0, 2)) assertRefused(reply, 415, 'unsupported_media_type')
  assert(refused[2] && refused[2].status >= 400)
  const form = new FormData()
  form.set('kind', 'other')
  form.set('file', new Blob([zip]), 'bomb.png')
  assertRefused(await uploadForm(key, dispute.id, form), 415, 'unsupported_media_type')
  assert.deepEqual((await getDispute(url, key, dispute.id)).evidence, [])
  assert.deepEqual(await storedFiles(), before)
})

test('a malformed upload is refused and not stored', async () => {
  const { key, dispute } = await openDispute()
  const before = await storedFiles()
  const formOf = (fields: Record<string, string | Blob>) => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    return form
  }
  const file = new Blob([PDF])
  for (const fields of [
    { file },
    { kind: 'bored', file },
    { kind: 'receipt', file, surplus: 'x' },
    { kind: 'receipt', id: dispute.id, file },
    { kind: 'receipt' },
    { kind: 'receipt', content_base64: 'AAAA', file },
    { kind: 'receipt', note: 'x'.repeat(70_000), file },
  ]) {
    assertRefused(await uploadForm(key, dispute.id, formOf(fields)), 400, 'invalid_request')
  }
  assertRefused(await upload(key, dispute.id, '', PDF), 400, 'invalid_request')
  assertRefused(await upload(key, dispute.id, '?kind=receipt&x=1', PDF), 400, 'unknown_parameter')
  const multipart = { 'content-type': 'multipart/form-data; boundary=b' }
  const cut = '--b\r\nContent-Disposition: form-data; name="kind"\r\n\r\nrec'
  assertRefused(await upload(key, dispute.id, '', cut, multipart), 400, 'invalid_request')
  const named = { body: { kind: 'note', note: 'x', file_name: 'a.pdf' } }
  assertRefused(await addEvidence(url, key, dispute.id, named), 400, 'invalid_request')
  const empty = { body: { kind: 'note' } }
  assertRefused(await addEvidence(url, key, dispute.id, empty), 400, 'invalid_request')
  assert.deepEqual(await storedFiles(), before)
})

/** Sends a request and part of its body over a raw socket. */
async function dial(key: string, id: string, length: number) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString()
  })
  socket.on('error', () => undefined)
  socket.write(
    `POST /v1/disputes/${id}/evidence?kind=receipt HTTP/1.1\r\nHost: x\r\n` +
      `Authorization: Bearer ${key}\r\nContent-Type: application/pdf\r\n` +
      `Content-Length: ${length}\r\n\r\n`,
  )
  socket.write(PDF)
  return { socket, received: () => received }
}

test('a stalled upload gets 408, and an aborted one is not stored', async () => {
  const { key, dispute } = await openDispute()
  const before = await storedFiles()
  const stalled = await dial(key, dispute.id, 1_000_000)
  assert(await eventually(async () => stalled.received() !== '', { within_ms: 20_000 }))
  assert.match(stalled.received(), /^HTTP\/1\.1 408 /)
  assert.match(stalled.received(), /"error":"invalid_request"/)
  stalled.socket.destroy()

  const cut = await dial(key, dispute.id, 1_000_000)
  await wait(100)
  cut.socket.destroy()
  const isClean = async () => (await storedFiles()).length === before.length
  assert(await eventually(isClean, { within_ms: 20_000 }))
  assert.deepEqual((await getDispute(url, key, dispute.id)).evidence, [])
})

test('the body of an unauthenticated upload is not stored', async () => {
  const { dispute } = await openDispute()
  const before = await storedFiles()
  assertRefused(await upload('nobody', dispute.id, '?kind=other', PDF), 401, 'invalid_token')
  assert.deepEqual(await storedFiles(), before)
})

test('the 21st piece of evidence, and evidence for a closed dispute, are refused', async () => {
  const { key, dispute } = await openDispute()
  for (let count = 0; count < 19; count += 1) {
    const sent = { body: { kind: 'note', note: `Note ${count}.` } }
    assert.equal((await addEvidence(url, key, dispute.id, sent)).status, 200)
  }
  // Only one of these concurrent calls can be the twentieth.
  const last = { body: { kind: 'note', note: 'Last.' } }
  const race = await Promise.all([1, 2, 3].map(() => addEvidence(url, key, dispute.id, last)))
  assert.deepEqual(race.map(({ status }) => status).sort(), [200, 409, 409])
  const before = await storedFiles()
  const over = await upload(key, dispute.id, '?kind=receipt', PDF)
  assertRefused(over, 409, 'evidence_limit_reached')
  await operate(url, 'POST', `/disputes/${dispute.id}/close`, { body: { outcome: 'won' } })
  assertRefused(await addEvidence(url, key, dispute.id, last), 409, 'dispute_closed')
  assertRefused(await upload(key, dispute.id, '?kind=receipt', PDF), 409, 'dispute_closed')
  assert.deepEqual(await storedFiles(), before)
  assert.equal((await getDispute(url, key, dispute.id)).evidence.length, 20)
})

test("another account's dispute is not found, and the file is not stored", async () => {
  const { dispute } = await openDispute()
  const stranger = await openDispute()
  const before = await storedFiles()
  const foreign = refusalOf(await upload(stranger.key, dispute.id, '?kind=receipt', PDF))
  assert.equal(foreign['status'], 404)
  const missing = 'dsp_01kc3z8e5xf8m9r4t2v6w7y8za'
  const none = refusalOf(await upload(stranger.key, missing, '?kind=receipt', PDF))
  assert.deepEqual(none, foreign)
  assert.deepEqual(await storedFiles(), before)
})

test('a repeat with the same Idempotency-Key adds one piece; another file is refused', async () => {
  const { key, dispute } = await openDispute()
  const header = { 'idempotency-key': 'once' }
  const first = await upload(key, dispute.id, '?kind=receipt', PDF, header)
  const files = await storedFiles()
  const again = await upload(key, dispute.id, '?kind=receipt', PDF, header)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(again.body, first.body)
  const other = await upload(key, dispute.id, '?kind=receipt', `${PDF}!`, header)
  assertRefused(other, 422, 'idempotency_key_reused')
  assert.deepEqual(await storedFiles(), files)
  const [path = ''] = files.filter((each) => each.includes(first.body['evidence'][0].id))
  assert.deepEqual(await readFile(join(data_dir, 'evidence', path)), PDF)
})
