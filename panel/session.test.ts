import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import '#panel/test_support/browser_globals.ts'
import { bearer, clearSession, joinTabs, saveBearer } from './session.ts'

/** Channels alone do not keep the process alive. */
let held: NodeJS.Timeout
before(() => {
  held = setInterval(() => undefined, 1_000)
})
after(() => clearInterval(held))

/** Another tab of the same browser. */
function otherTab(t: TestContext) {
  const channel = new BroadcastChannel('florin_session')
  const received: unknown[] = []
  channel.onmessage = ({ data }) => void received.push(data)
  t.after(() => channel.close())
  return { channel, received }
}
const delivered = () => wait(20)

test('a new tab takes over the session of an open one', async (t) => {
  sessionStorage.clear()
  const { channel } = otherTab(t)
  channel.onmessage = ({ data }) => {
    if (data.type === 'bearer_wanted') channel.postMessage({ type: 'signed_in', bearer: 'sess_1' })
  }
  await joinTabs()
  assert.equal(bearer(), 'sess_1')
  assert.equal(localStorage.length, 0, 'nothing is written to disk')
})

test('signing in here signs in the other tabs, and an asking tab gets the session', async (t) => {
  const { channel, received } = otherTab(t)
  saveBearer('sess_2')
  await delivered()
  channel.postMessage({ type: 'bearer_wanted' })
  await delivered()
  const signed_in = { type: 'signed_in', bearer: 'sess_2' }
  assert.deepEqual(received, [signed_in, signed_in])
})

test('a sign-in elsewhere does not replace the session of this tab', async (t) => {
  const { channel } = otherTab(t)
  channel.postMessage({ type: 'signed_in', bearer: 'sess_of_somebody_else' })
  await delivered()
  assert.equal(bearer(), 'sess_2')
})

test('signing out elsewhere ends the same session here, and no other', async (t) => {
  const { channel } = otherTab(t)
  channel.postMessage({ type: 'signed_out', bearer: 'sess_of_somebody_else' })
  await delivered()
  assert.equal(bearer(), 'sess_2')
  channel.postMessage({ type: 'signed_out', bearer: 'sess_2' })
  await delivered()
  assert.equal(bearer(), null)
})

test('signing out here notifies the other tabs and removes all that the tab has stored', async (t) => {
  saveBearer('sess_3')
  sessionStorage.setItem('florin_reloaded', '/cards')
  const { received } = otherTab(t)
  clearSession()
  await delivered()
  assert.equal(sessionStorage.length, 0)
  assert.deepEqual(received, [{ type: 'signed_out', bearer: 'sess_3' }])
})
