// Runs alone, because it runs test files in processes of its own.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import { runFiles } from '#test/support/test_runs.ts'

/** Every door and the pipeline. */
const FOLDERS = ['src/doors', 'src/operations', 'test/coverage']

/** Work that finds its cell in another way: by email, by a mailed link, by a deposit address. */
const FILES = [
  'src/domain/accounts/create_account.test.ts',
  'src/domain/accounts/reset_password.test.ts',
  'src/domain/notices/notices.test.ts',
  'src/domain/withdrawals/sweep_deposits_task.test.ts',
]

const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?<!\.long|\.conformance)\.test\.ts$/.test(path))
    .map((path) => `${folder}/${path}`)

const titles = {
  2: 'the same tests pass if all accounts are in another cell than cell 0',
  schemas: 'the same tests pass if that cell is a schema of the database of cell 0',
}

for (const [cells, title] of Object.entries(titles)) {
  test(title, async (t) => {
    const files = [...FOLDERS.flatMap(filesIn), ...FILES]
    const database_url = process.env['FLORIN_TEST_DATABASE_URL'] ?? ''
    const options = { workers: 4, database_url }
    const { failures, tally } = await runFiles(files, { FLORIN_TEST_CELLS: cells }, options)
    t.diagnostic(`${tally.pass} tests of ${files.length} files passed with two cells`)
    assert.deepEqual(failures, [])
    assert.deepEqual(
      files.filter((file) => tally.file_ms[file] === undefined),
      [],
    )
  })
}
