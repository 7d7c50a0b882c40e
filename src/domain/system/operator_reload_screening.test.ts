import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import { openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operate } from '#test/support/operator.ts'
import { startTestService } from '#test/support/start.ts'
import { operatorReloadScreening } from './operator_reload_screening.ts'

const folder = mkdtempSync(join(tmpdir(), 'florin_screening_'))
after(() => rmSync(folder, { recursive: true, force: true }))
const list = join(folder, 'blocked')
const BLOCKED = 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'

test('a reload blocks the addresses that were added, and reports the version of the list', async () => {
  writeFileSync(list, '# nobody\n')
  const room = await openMoneyRoom({ FLORIN_SCREENING_FILE: list })
  const reload = async () => (await room.prepareAndOperate(operatorReloadScreening, {})).value
  const decide = async () => {
    const transfer = {
      chain: 'tron',
      address: BLOCKED,
      direction: 'out',
      amount_micros: 1n,
    } as const
    return (await room.dependencies.screener.screen(transfer)).decision
  }
  const before = await reload()
  assert.equal(await decide(), 'allow')
  writeFileSync(list, `${BLOCKED}\n`)
  const reloaded = await reload()
  assert.equal(await decide(), 'block')
  assert.equal(reloaded.source, before.source)
  assert.notEqual(reloaded.list_version, before.list_version)
})

test('without a list there is nothing to reload', async () => {
  const room = await openMoneyRoom()
  const { value } = await room.prepareAndOperate(operatorReloadScreening, {})
  assert.deepEqual(value, { source: 'none', list_version: '' })
})

test('a list that cannot be read is named to the operator, and not to a customer', async () => {
  const missing = join(folder, 'missing')
  const service = await startTestService({ env: { FLORIN_SCREENING_FILE: missing } })
  const { url } = service
  const reload = await operate(url, 'POST', '/screening/reload')
  assertRefused(reload, 503, 'service_unavailable')
  assert(String(reload.body['message']).includes(missing), reload.text)
  const { key } = await openHolder(service, 100)
  const withdrawal = { amount_usd: 20, address: BLOCKED }
  const refused = await send(url, 'POST', '/v1/withdrawals', { bearer: key, body: withdrawal })
  assertRefused(refused, 503, 'service_unavailable')
  assert(!refused.text.includes(missing), refused.text)
})
