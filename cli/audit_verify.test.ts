import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type AuditRow, auditHash, genesisHash } from '#domain/audit/audit.ts'
import { florin } from '#test/support/florin_process.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url, database_url, data_dir, owner_db: db } = await startTestService()
const env = { FLORIN_DATABASE_URL: database_url, FLORIN_DATA_DIR: data_dir }
const folder = await mkdtemp(join(tmpdir(), 'florin_heads_'))
after(() => rm(folder, { recursive: true, force: true }))
const verify = (...words: string[]) => florin(['audit', 'verify', ...words], env)

/** An attack by someone with write access to the database: a forged history with valid hashes. */
async function forgeHistory(account_id: string): Promise<void> {
  const entries = await db.rows<AuditRow>(
    'select * from audit_entries where account_id = $1 order by position',
    [account_id],
  )
  let prev_hash = genesisHash(account_id)
  await db.run('alter table audit_entries disable trigger audit_entries_append_only')
  for (const { hash: _, ...entry } of entries) {
    const forged = { ...entry, ip: '203.0.113.9', prev_hash }
    prev_hash = auditHash(forged)
    await db.run(
      `update audit_entries set ip = $3, prev_hash = $4, hash = $5
        where account_id = $1 and position = $2`,
      [account_id, entry.position, forged.ip, forged.prev_hash, prev_hash],
    )
  }
  await db.run('alter table audit_entries enable trigger audit_entries_append_only')
  await db.run('update account_sequences set audit_hash = $2 where account_id = $1', [
    account_id,
    prev_hash,
  ])
}

test('a forged history with valid hashes fails only against heads saved earlier', async () => {
  const [person, other] = [await openAccount(url), await openAccount(url)]
  const heads = join(folder, 'heads')
  assert.equal((await florin(['audit', 'verify', '--save', heads], env)).code, 0)
  await createKey(url, other.bearer)
  const grown = await verify('--against', heads)
  assert.deepEqual([grown.code, /unbroken/.test(grown.output)], [0, true], grown.output)

  await forgeHistory(person.account_id)
  assert.equal((await verify()).code, 0, 'the chain alone does not show the forgery')
  const compared = await verify('--against', heads, '--json')
  assert.equal(compared.code, 1)
  const { faults } = JSON.parse(compared.output) as { faults: { account_id: string }[] }
  assert.deepEqual(
    faults.map(({ account_id }) => account_id),
    [person.account_id],
  )
})

test('a file that --save did not write is refused with a readable message', async () => {
  const file = join(folder, 'other')
  await writeFile(file, 'some text\n')
  const { code, output } = await verify('--against', file)
  assert.deepEqual([code, /not written by --save/.test(output)], [2, true], output)
})
