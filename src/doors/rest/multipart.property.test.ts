import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { boundaryOf, MultipartError, readMultipart } from './multipart.ts'

type ReadPart = { name: string; file_name: string | null; bytes: Buffer }

async function* inChunks(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  let start = 0
  for (const end of [...places, bytes.length]) {
    yield bytes.subarray(start, end)
    start = end
  }
}

async function readAll(source: AsyncIterable<Uint8Array>, boundary: string): Promise<ReadPart[]> {
  const parts: ReadPart[] = []
  for await (const { name, file_name, body } of readMultipart(source, boundary)) {
    const chunks: Uint8Array[] = []
    for await (const chunk of body) chunks.push(Buffer.from(chunk))
    parts.push({ name, file_name, bytes: Buffer.concat(chunks) })
  }
  return parts
}

function written(parts: readonly ReadPart[], boundary: string): Buffer {
  const lines = parts.flatMap(({ name, file_name, bytes }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"` +
        `${file_name === null ? '' : `; filename="${file_name}"`}\r\n\r\n`,
    ),
    bytes,
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...lines, Buffer.from(`--${boundary}--\r\n`)])
}

const boundary = '----florin42'
/** Bytes that look like delimiters, and bytes that do not. */
const tricky = fc
  .array(
    fc.oneof(
      fc.constantFrom('\r\n', '--', '\r\n--', `\r\n--${boundary.slice(0, -1)}`, '\r', '\n', '-'),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => Buffer.from(pieces.join('')))
  .filter((bytes) => !bytes.includes(boundary))

const part = fc.record(
  {
    name: fc.constantFrom('kind', 'note', 'file', 'ä b'),
    file_name: fc.option(fc.constantFrom('a.pdf', '../../x', 'ü.png', ''), { nil: null }),
    bytes: tricky,
  },
  { noNullPrototype: true },
)

test('every form is read back as written, however its bytes are split into chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(), { maxLength: 40 }),
      async (parts, cuts) => {
        const read = await readAll(inChunks(written(parts, boundary), cuts), boundary)
        assert.deepEqual(read, parts)
      },
    ),
    { numRuns: 500 },
  )
})

test('a form that is cut off anywhere is an error', async () => {
  const whole = written(
    [
      { name: 'kind', file_name: null, bytes: Buffer.from('receipt') },
      { name: 'file', file_name: 'a.txt', bytes: Buffer.from('some text\r\n--') },
    ],
    boundary,
  )
  // The last line break may be missing.
  for (let end = 0; end < whole.length - 2; end += 1) {
    await assert.rejects(
      readAll(inChunks(whole.subarray(0, end), [3, 60]), boundary),
      MultipartError,
    )
  }
})

test('no input crashes the reader', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const start = Buffer.from(`--${boundary}\r\n`)
      await readAll(inChunks(Buffer.concat([start, bytes]), [7]), boundary).then(
        () => undefined,
        (cause: unknown) => assert(cause instanceof MultipartError),
      )
    }),
  )
})

test('a missing boundary, two names, endless headers and data after the end are refused', async () => {
  const read = (text: string) => readAll(inChunks(Buffer.from(text), [1, 2, 3]), 'b')
  for (const text of [
    'x--b\r\n',
    '--b\r\n\r\n\r\n--b--',
    '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--',
    '--b\r\nContent-Disposition: form-data; name="a"; name="b"\r\n\r\nx\r\n--b--',
    '--bx\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--',
    `--b\r\nX: ${'y'.repeat(9_000)}\r\n\r\nx\r\n--b--`,
    '--b--\r\nmore',
  ]) {
    await assert.rejects(read(text), MultipartError, text.slice(0, 60))
  }
})

test('a boundary follows RFC 2046, quoted or not', () => {
  assert.equal(boundaryOf('multipart/form-data; boundary=abc'), 'abc')
  assert.equal(boundaryOf('Multipart/Form-Data;charset=utf-8; boundary="a b:c"'), 'a b:c')
  for (const type of [
    'multipart/mixed; boundary=abc',
    'multipart/form-data',
    'multipart/form-data; boundary=""',
    `multipart/form-data; boundary=${'a'.repeat(71)}`,
    'text/plain',
  ]) {
    assert.equal(boundaryOf(type), null, type)
  }
})
