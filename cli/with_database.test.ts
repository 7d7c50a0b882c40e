import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cloneDatabase } from '#test/support/database.ts'
import { florin, temporaryFolder } from '#test/support/florin_process.ts'

const empty = await cloneDatabase('template0')
const folder = await temporaryFolder()
after(async () => {
  await empty.drop()
  await folder.remove()
})
const env = { FLORIN_DATABASE_URL: empty.url, FLORIN_DATA_DIR: folder.path }

for (const words of [
  ['audit', 'books'],
  ['audit', 'verify'],
  ['operator', 'list'],
  ['cells', 'list'],
]) {
  test(`florin ${words.join(' ')} on a database without tables says what to run`, async () => {
    const { code, output } = await florin(words, env)
    assert.match(output, /^This database has no tables of this version yet\. Run `florin start`/m)
    assert.doesNotMatch(output, / at .*\.js:\d+/)
    assert.equal(code, 2)
  })
}
