import { test } from 'node:test'
import { assertPlannedOnce } from '#test/support/plans.ts'
import { startTestService } from '#test/support/start.ts'
import { findApiKeyByHash, findSessionByHash, findTokenByHash } from './credential_store.ts'

const { database_url } = await startTestService()

test('the look-up of a credential is planned once per connection, not for every call', async () => {
  for (const find of [findApiKeyByHash, findSessionByHash, findTokenByHash]) {
    await assertPlannedOnce(database_url, (db) => find(db, ['a hash']))
    await assertPlannedOnce(database_url, (db) => find(db, ['a hash', 'one of an earlier root']))
  }
})
