import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { openDatabase } from '#platform/postgres/db.ts'
import { openSession } from '#platform/postgres/session.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { loadKeys } from '#platform/storage/keys.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { type ArchiveBooks, withMonthlyBooks } from '#test/support/monthly_books.ts'
import { createArchive } from './create_archive.ts'
import { sumRows } from './export_rows.ts'
import { sha256Of } from './manifest.ts'
import { restoreArchive } from './restore_archive.ts'
import { verifyArchive, verifyFolder } from './verify_archive.ts'

const made = async ({ session, input }: ArchiveBooks, before = input.before): Promise<string> => {
  const folder = await createArchive({ ...input, before, session })
  assert(folder !== null)
  return folder
}

test('an archive with a changed, shortened or missing file is refused', () =>
  withMonthlyBooks(async (books) => {
    const folder = await made(books)
    const { manifest } = await verifyArchive(folder, books.keys)
    assert.deepEqual(
      manifest.files.map(({ table }) => table),
      ['movements', 'transactions'],
    )
    const path = join(folder, 'movements.jsonl.gz')
    const bytes = await readFile(path)
    const text = gunzipSync(bytes).toString('utf8')
    const changed = gzipSync(text.replace('"amount_micros":1000000', '"amount_micros":1000001'))
    for (const other of [changed, gzipSync(text.slice(0, -100)), bytes.subarray(0, -1)]) {
      await writeFile(path, other)
      await assert.rejects(verifyArchive(folder, books.keys), /was changed: its SHA-256 is/)
    }
    await rm(path)
    await assert.rejects(verifyArchive(folder, books.keys), /can't be read/)
  }))

test('a manifest that fits changed files is refused without the key', () =>
  withMonthlyBooks(async (books) => {
    const folder = await made(books)
    const path = join(folder, 'manifest.json')
    const manifest = JSON.parse(await readFile(path, 'utf8'))
    manifest.files[0].sha256 = sha256Of('another file')
    await writeFile(path, JSON.stringify(manifest))
    await assert.rejects(verifyArchive(folder, books.keys), /the manifest was changed/)
    await writeFile(path, '{')
    await assert.rejects(verifyArchive(folder, books.keys), /not valid JSON/)
  }))

test('another key file is refused', () =>
  withMonthlyBooks(async (books) => {
    const folder = await made(books)
    const others = await loadKeys(join(books.folder, 'others.json'), systemRandom)
    await assert.rejects(verifyArchive(folder, others), /made with another key file/)
  }))

test('a folder without one of its archives is refused', () =>
  withMonthlyBooks(async (books) => {
    const first = await made(books)
    await made(books, new Date('2027-05-01T00:00:00Z'))
    assert.equal((await verifyFolder(books.folder, books.keys)).length, 2)
    await rm(first, { recursive: true })
    await assert.rejects(verifyFolder(books.folder, books.keys), /is missing/)
  }))

test('a restored archive has the same rows, in a schema of its own', () =>
  withMonthlyBooks(async (books) => {
    const before = await sumRows(books.session, ['movements_first'])
    const folder = await made(books)
    const { manifest } = await verifyArchive(folder, books.keys)
    const other = await cloneDatabase('template1')
    const db = openDatabase(other.url, { pool_size: 1 })
    try {
      const input = { folder, keys: books.keys, to: other.url }
      const schema = await restoreArchive(input)
      const session = await openSession(other.url)
      await session.run(`set search_path = ${schema}`)
      for (const { table, rows, row_hash } of manifest.files) {
        assert.deepEqual(await sumRows(session, [table]), { rows, row_hash })
      }
      const [first] = await session.rows<{ rows: number }>(
        `select count(*)::integer as rows from movements where id < 'bal_' || $1`,
        [manifest.floor],
      )
      assert((first?.rows ?? 0) > before.rows)
      await session.close()
      await assert.rejects(restoreArchive(input), /There is a schema/)
    } finally {
      await db.close()
      await other.drop()
    }
  }))

test('a folder that does not exist is named', () =>
  withMonthlyBooks(async ({ folder, input }) => {
    const missing = join(folder, 'missing')
    await assert.rejects(verifyFolder(missing, input.keys), /The folder .*missing can't be read\./)
  }))
