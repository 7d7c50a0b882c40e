import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Violation } from '#domain/context/proof.ts'
import { proveBooks } from '#main/audit.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { cloneDatabase } from './database.ts'
import { asOwner } from './old_purchases.ts'
import { soundBooks } from './sound_books.ts'

/** A manual change that breaks sound books, and the sentence that reports it. */
export type Breakage = {
  proof: string
  sql: string
  sentence: string | RegExp
}

async function violationsAfter(database: string, sql: string): Promise<Violation[]> {
  const clone = await cloneDatabase(database)
  try {
    await asOwner(clone.url, sql)
    const db = openDatabase(clone.url, { pool_size: 2 })
    const { violations } = await proveBooks(db).finally(db.close)
    return violations
  } finally {
    await clone.drop()
  }
}

/** One test per proof: its breakage makes that proof fail, and no other. */
export async function testBreakages(
  proofs: readonly { name: string }[],
  breakages: readonly Breakage[],
  books: () => Promise<string> = soundBooks,
): Promise<void> {
  const database = await books()

  test('sound books violate no proof', async () => {
    assert.deepEqual(await violationsAfter(database, 'select 1'), [])
  })

  test('every proof has a breakage that it finds', () => {
    assert.deepEqual(
      [...new Set(breakages.map(({ proof }) => proof))].sort(),
      proofs.map(({ name }) => name).sort(),
    )
  })

  for (const { proof, sql, sentence } of breakages) {
    test(`finds a violation of: ${proof}`, async () => {
      const violations = await violationsAfter(database, sql)
      assert.deepEqual([...new Set(violations.map((found) => found.proof))], [proof])
      const [found] = violations
      if (typeof sentence === 'string') assert.equal(found?.sentence, sentence)
      else assert.match(found?.sentence ?? '', sentence)
    })
  }
}
