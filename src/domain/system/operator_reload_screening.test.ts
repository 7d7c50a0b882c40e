import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
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
