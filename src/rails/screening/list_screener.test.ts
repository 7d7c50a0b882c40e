import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { listScreener } from './list_screener.ts'
import { ScreeningUnavailable } from './screening.ts'

const folder = mkdtempSync(join(tmpdir(), 'florin_list_'))
after(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'list.txt')
const screener = listScreener(path)

const TRON = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
const TRON_HEX = '41e2d8a4cd3a4ee7a36b1ed6dcd5bdf28b4ae6d8d1'
const EVM = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const BITCOIN = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'

async function decisionOn(address: string): Promise<string> {
  const request = { chain: 'tron', address, direction: 'in', amount_micros: 1n } as const
  return (await screener.screen(request)).decision
}

test('a listed address is blocked in any format, others are allowed', async () => {
  writeFileSync(path, `# remark\n\n${TRON}  # who\n${EVM.toLowerCase()}\r\n${BITCOIN}\n`)
  for (const address of [TRON, EVM, EVM.toLowerCase(), BITCOIN]) {
    assert.equal(await decisionOn(address), 'block', address)
  }
  for (const address of [TRON.toLowerCase(), TRON_HEX, 'remark', '']) {
    assert.equal(await decisionOn(address), 'allow', address)
  }
})

test('a changed file is read again', async () => {
  writeFileSync(path, `${TRON}\n`)
  assert.equal(await decisionOn(TRON), 'block')
  writeFileSync(path, 'nobody\n')
  assert.equal(await decisionOn(TRON), 'allow')
})

test('an unreadable list is an error, not an approval', async () => {
  rmSync(path)
  await assert.rejects(decisionOn(TRON), (error: unknown) => {
    assert(error instanceof ScreeningUnavailable)
    assert.equal((error.cause as NodeJS.ErrnoException).code, 'ENOENT')
    return true
  })
})
