import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Slice, sliceParams, statementOf } from '#domain/context/proof.ts'
import { idFloor } from '#kernel/id.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { root } from '#platform/runtime/root.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { proofs, running_proofs } from './proofs.ts'

const clone = await cloneDatabase()
const db = openDatabase(clone.url, { pool_size: 1 })
after(async () => {
  await db.close()
  await clone.drop()
})

const domain = join(root, 'src/domain')
const test_files = readdirSync(domain, { recursive: true, encoding: 'utf8' })
  .filter((path) => /(_proofs|running_\w+)\.test\.ts$/.test(path))
  .map((path) => readFileSync(join(domain, path), 'utf8'))

for (const { name } of [...running_proofs, ...proofs]) {
  test(`has a test that breaks the data and sees it fail: ${name}`, () => {
    const quoted = [`'${name}'`, `"${name}"`]
    assert(test_files.some((text) => quoted.some((words) => text.includes(words))))
  })
}

test('each proof has a name of its own', () => {
  const names = [...running_proofs, ...proofs].map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
})

const slice: Slice = {
  account_id: 'acct_1',
  after: '',
  through: 'z',
  near_after: '',
  near_through: 'z',
  since: null,
}
const floors = {
  events_floor: '',
  events_since: '-infinity',
  money_floor: '',
  money_since: '-infinity',
}
const params_of = {
  slice: sliceParams([slice], { now: new Date(), floors }),
  account: sliceParams([slice], { now: new Date(), floors }),
  range: ['', 'z'],
  program: [new Date()],
}

type Plan = { 'Node Type': string; 'Relation Name'?: string; Plans?: Plan[] } & Record<
  string,
  unknown
>

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** Tables that grow with every purchase or event. */
const LARGE = ['transactions', 'movements', 'events', 'audit_entries', 'network_messages', 'purses']

/** A scan that reads a whole table: sequential, or an index without a condition. */
const isWholeScan = (node: Plan): boolean =>
  LARGE.includes(node['Relation Name'] ?? '') &&
  (node['Node Type'] === 'Seq Scan' ||
    (/^Index/.test(node['Node Type']) && node['Index Cond'] === undefined))

for (const proof of proofs) {
  const { name, scope } = proof
  if (scope === 'whole') continue
  const sql = statementOf([proof])
  test(`reads no large table as a whole: ${name}`, async () => {
    const params = params_of[scope].filter((_, at) => sql.includes(`$${at + 1}`))
    const scans = await db.connection(async (client) => {
      await client.query('begin')
      await client.query('set local enable_seqscan = off')
      const { rows } = await client.query(`explain (format json) ${sql}`, params)
      await client.query('rollback')
      const [explained] = rows[0]['QUERY PLAN'] as { Plan: Plan }[]
      return explained === undefined ? [] : nodesOf(explained.Plan).filter(isWholeScan)
    })
    assert.deepEqual(scans, [])
  })
}

test('the database makes the first characters of an ID as the service does', async () => {
  for (const at of [new Date(0), new Date('2026-11-16T10:00:00.123Z'), new Date(2 ** 48 - 1)]) {
    const [row] = await db.rows<{ letters: string }>('select id_time($1) as letters', [at])
    assert.equal(row?.letters, idFloor('evt', at.getTime()).slice(4, 14))
  }
})
