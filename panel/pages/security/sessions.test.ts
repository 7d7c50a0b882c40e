import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { bearer, saveBearer } from '#panel/session.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row } from '#panel/test_support/samples.ts'
import { Sessions } from './sessions.tsx'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'
const CHROME = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/130.0 Safari/537.36'
const example = row('list_sessions')
const idOf = (at: number) => example.id.replace(/.$/, String(at))
const own = { ...example, id: idOf(1), current: true, user_agent: FIREFOX, ip: '192.0.2.1' }
const other = { ...example, id: idOf(2), current: false, user_agent: CHROME, ip: '192.0.2.2' }

test('this device is first, and named as such', async (t) => {
  serve(t, { list_sessions: pageOf([other, own]) })
  const page = await open(t, Sessions, {})
  const [, first, second] = page.all('row').map((line) => line.textContent ?? '')
  assert.match(first ?? '', /Firefox.*This device.*192\.0\.2\.1/)
  assert.match(second ?? '', /Chrome/)
})

test('ending another session asks first and leaves this one signed in', async (t) => {
  const service = serve(t, { list_sessions: pageOf([own, other]), revoke_session: {} })
  const page = await open(t, Sessions, {})
  saveBearer('sess_own')
  await page.click('button', /^Sign out Chrome/)
  assert.match(page.in('dialog').text(), /192\.0\.2\.2/)
  await page.click('button', 'Sign out')
  assert.deepEqual(service.sent('revoke_session'), [{ id: other.id }])
  assert.equal(bearer(), 'sess_own')
  assert(!page.has('dialog'))
})

test('ending this session signs out here', async (t) => {
  serve(t, { list_sessions: pageOf([own]), revoke_session: {} })
  const page = await open(t, Sessions, {})
  saveBearer('sess_own')
  await page.click('button', /^Sign out Firefox/)
  await page.click('button', 'Sign out')
  assert.equal(bearer(), null)
})

test('a session that could not be ended keeps the dialog open with the reason', async (t) => {
  serve(t, {
    list_sessions: pageOf([own, other]),
    revoke_session: refuse('kill_switch_active', 'Try again later.'),
  })
  const page = await open(t, Sessions, {})
  await page.click('button', /^Sign out Chrome/)
  await page.click('button', 'Sign out')
  assert.match(page.in('dialog').get('alert').textContent ?? '', /Try again later\./)
  await page.press('Escape')
  assert(!page.has('dialog'))
})

test('with only this session there is nothing to end everywhere else', async (t) => {
  serve(t, { list_sessions: pageOf([own]) })
  const page = await open(t, Sessions, {})
  assert(!page.has('button', 'Sign out everywhere else'))
})
