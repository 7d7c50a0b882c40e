import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { cellOfId } from '#kernel/id.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { ArchivedPostgres } from '#test/support/archived_postgres.ts'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { florin, temporaryFolder } from '#test/support/florin_process.ts'
import { type Reply, send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { skipWithout } from '#test/support/tools.ts'
import { balanceOf, fund } from '#test/support/topups.ts'

const skip = skipWithout('pgbackrest') || skipWithout('postgres')

/** Rows and a checksum of every table. */
async function digestOf(server: ArchivedPostgres): Promise<unknown> {
  const tables = await server.query(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace
        and relkind in ('r', 'p') and not relispartition order by 1`,
  )
  const sums = tables.map(
    ({ name }) => `select '${name}' as name, count(*) as rows,
      sum(hashtextextended(t::text, 0)::numeric)::text as checksum from ${name} t`,
  )
  return server.query(sums.join(' union all '))
}

/** Opens accounts until the cell has one. */
async function openIn(url: string, cell: number): Promise<Person> {
  const person = await openAccount(url)
  return cellOfId(person.account_id) === cell ? person : openIn(url, cell)
}

const signIn = (url: string, { email }: Person): Promise<Reply> =>
  send(url, 'POST', '/v1/sessions', { body: { email, password: PASSWORD } })

const issueCard = (url: string, { bearer }: Person): Promise<Reply> =>
  send(url, 'POST', '/v1/cards', { bearer, body: { type: 'virtual' } })

test('one of two cells is restored to a time, and the other cell and the directory fit it', {
  skip,
}, async () => {
  const folders = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()]
  const [home_path = '', cell_path = '', data_dir = ''] = folders.map(({ path }) => path)
  const repository = join(home_path, 'repository')
  const home = await ArchivedPostgres.start(home_path, { cell: 0, repository })
  const cell = await ArchivedPostgres.start(cell_path, { cell: 1, repository })
  const FLORIN_CELLS = JSON.stringify([{ number: 1, url: cell.url }])
  const open = () => startTestService({ database_url: home.url, data_dir, env: { FLORIN_CELLS } })
  const service = await open()
  // Hooks run in this order, and the sandbox writes to its folder until it is stopped.
  after(async () => {
    await home.kill()
    await cell.kill()
    for (const folder of folders) await folder.remove()
  })
  const { url } = service
  const [ada, bob] = [await openIn(url, 0), await openIn(url, 1)]
  for (const { bearer } of [ada, bob]) await fund(url, bearer, 100)
  // Both in one repository.
  for (const server of [home, cell]) await server.backrest('--type=full', 'backup')
  // pgBackRest knows the end of a backup to the second, and the target must be later.
  await delay(1_000)
  await fund(url, bob.bearer, 50)
  const [target_time] = await cell.query('select clock_timestamp()::text as at')

  // After it, both cells go on, and the one that is lost gets another account.
  await fund(url, ada.bearer, 20)
  const lost = await openIn(url, 1)
  await service.stop()
  await cell.archiveAll()
  await cell.kill()
  const before = await digestOf(home)

  const target = `--target=${String(target_time?.['at'])}`
  await cell.backrest('--delta', '--type=time', target, '--target-action=promote', 'restore')
  await cell.run()
  const env = { FLORIN_DATABASE_URL: home.url, FLORIN_DATA_DIR: data_dir, FLORIN_CELLS }
  const prepared = await florin(['after-restore', '--yes', '--cell', '1'], env)
  assert.equal(prepared.code, 0, prepared.output)
  assert.deepEqual(await digestOf(home), before, 'nothing was changed in the other cell')

  const restored = await open()
  assert.equal((await balanceOf(restored.url, ada.bearer)).balance_usd, 120)
  assert.equal((await balanceOf(restored.url, bob.bearer)).balance_usd, 150)
  for (const person of [ada, bob]) {
    const { body, text } = await signIn(restored.url, person)
    assert.equal(body.account_id, person.account_id, text)
  }
  assert.equal((await issueCard(restored.url, ada)).status, 201)
  const paused = await issueCard(restored.url, bob)
  assert.equal(paused.body.error, 'kill_switch_active', 'only the restored cell is paused')

  // The directory still sends the lost account's email to its cell, which takes it again.
  assert.equal((await signIn(restored.url, lost)).status, 401)
  const body = { email: lost.email, password: PASSWORD }
  const again = await send(restored.url, 'POST', '/v1/accounts', { body })
  assert.equal(again.status, 201, again.text)
  assert.equal(cellOfId(String(again.body['id'])), 1)
  assert.equal((await signIn(restored.url, lost)).status, 200)
  for (const server of [home, cell]) {
    const db = openDatabase(server.url, { pool_size: 2 })
    await assertBooksSound(db)
    await assertEventsAreWhole(db)
    await db.close()
  }
  await restored.stop()
})
