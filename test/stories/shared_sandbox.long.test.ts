import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cloneDatabase } from '#test/support/database.ts'
import {
  florin,
  startFlorin,
  stopAllProcesses,
  temporaryFolder,
} from '#test/support/florin_process.ts'
import { freePort } from '#test/support/port.ts'

const database = await cloneDatabase()
after(async () => {
  await stopAllProcesses()
  await database.drop()
})

test('a second sandbox on the same database is refused with a sentence, and later accepted', async () => {
  const [first, second] = [await temporaryFolder(), await temporaryFolder()]
  after(first.remove)
  after(second.remove)
  const shared = { FLORIN_DATABASE_URL: database.url }
  const running = await startFlorin({ ...shared, FLORIN_DATA_DIR: first.path })
  const ports = { FLORIN_PORT: String(await freePort()), FLORIN_ISO_PORT: String(await freePort()) }
  const refused = await florin(['start'], { ...shared, ...ports, FLORIN_DATA_DIR: second.path })
  assert.notEqual(refused.code, 0)
  assert.match(
    refused.stderr,
    /Another sandbox uses this database\. Each sandbox has its own chain/,
  )
  assert.doesNotMatch(refused.stderr, /^ {4}at /m, 'no stack')
  running.signal('SIGTERM')
  await running.ended
  const again = await startFlorin({ ...shared, FLORIN_DATA_DIR: first.path })
  again.signal('SIGTERM')
  await again.ended
})
