import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openBooks } from '#bench/large_parts/books.ts'
import { fillBooks } from '#bench/large_parts/fill.ts'
import { proveBooks } from '#main/audit.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'

const data_dir = mkdtempSync(join(tmpdir(), 'florin_large_'))
const postgres = await startEmbeddedPostgres({ data_dir, durable: false })
const books = await openBooks(postgres.url, 'large_books', data_dir)
after(async () => {
  await books.close()
  await postgres.stop()
  rmSync(data_dir, { recursive: true, force: true })
})

test('the large books of the bench are sound, and as large as asked', async () => {
  const wanted = { accounts: 100, cards: 200, transactions: 2_000 }
  const busy = { cards: 2, purchases: 20, at_once: 2 }
  const { counts } = await fillBooks(books, wanted, 100, { templates: 3, busy, declines: 4 })
  const { violations } = await proveBooks(books.dependencies.db)
  assert.deepEqual(violations.slice(0, 3), [])
  assert.deepEqual([counts['accounts'], counts['cards']], [100, 200])
  assert(Number(counts['transactions']) >= 2_000, `${counts['transactions']} transactions`)
})
