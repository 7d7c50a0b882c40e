import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cellOfId } from '#kernel/id.ts'
import { startService } from '#main/start.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { readSettings } from '#settings/settings.ts'
import { getCard, issueCard } from '#test/support/cards.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { temporaryFolder } from '#test/support/florin_process.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound, fundTreasury } from '#test/support/money.ts'
import { node_env } from '#test/support/node_env.ts'
import { openAccount, PASSWORD } from '#test/support/people.ts'

const folder = await temporaryFolder()
const databases = [await cloneDatabase(), await cloneDatabase()]
const [home, other] = databases
const bins = [{ bin: '45321200', brand: 'visa', types: ['virtual'], default: true }]
const env = {
  ...node_env,
  FLORIN_MODE: 'live',
  FLORIN_RATE_PROFILE: 'default',
  FLORIN_PUBLIC_URL: 'https://cards.example',
  FLORIN_OPERATOR_URL: 'https://ops.cards.example',
  FLORIN_DATA_DIR: folder.path,
  FLORIN_DATABASE_URL: home?.url ?? '',
  FLORIN_CELLS: JSON.stringify([{ number: 1, url: other?.url }]),
  FLORIN_BINS: JSON.stringify(bins),
}
const service = await startService(readSettings(env), { dependencies: { log: silentLog } })
after(async () => {
  await service.stop()
  for (const { drop } of databases) await drop()
  await folder.remove()
})
const { url, runtime } = service

test('live mode starts with two cells and serves accounts of both', async () => {
  assert.equal(runtime.settings.mode, 'live')
  const people = [await openAccount(url), await openAccount(url)]
  const found = people.map(({ account_id }) => cellOfId(account_id))
  assert.deepEqual(found.toSorted(), [0, 1])
  for (const { account_id, bearer, email } of people) {
    assert.match(bearer, /^fls_live_/)
    const cell = runtime.cells?.at(cellOfId(account_id))
    assert(cell !== undefined)
    await fundTreasury(cell.db, account_id, 50)
    const card = await issueCard(url, bearer, { load_usd: 20 })
    assert.equal(cellOfId(card.id), cellOfId(account_id))
    assert.equal((await getCard(url, bearer, card.id)).balance_usd, 20)
    const body = { email, password: PASSWORD }
    const again = await send(url, 'POST', '/v1/sessions', { body })
    assert.equal(again.body['account_id'], account_id, again.text)
    await assertBooksSound(cell.db)
  }
})

test('live mode with a price does not start without a receiver for each cell', async () => {
  const priced = readSettings({
    ...env,
    FLORIN_PAID_OPERATIONS: '{"issue_card":"0.50"}',
    FLORIN_X402_PAY_TO: `0x${'ab'.repeat(20)}`,
    FLORIN_X402_FACILITATOR_URL: 'https://facilitator.example.com',
  })
  const start = startService(priced, { dependencies: { log: silentLog } })
  await assert.rejects(start, /FLORIN_X402_CELLS has no pay_to for cell 1/)
})
