import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { startTestService } from '#test/support/start.ts'

const EMAIL = 'operator@example.com'
const PROOF = 'every balance equals its entries'
const service = await startTestService({ env: { FLORIN_OPERATOR_EMAIL: EMAIL } })
const { url, runtime, owner_db, tasks } = service

const prove = () => tasks.run(['prove_books'])

async function health(bearer: string): Promise<{ status: string; message: string | null }> {
  const { body } = await send(url, 'GET', '/v1/system/health', { bearer })
  const { status, message } = body['components']['rails']
  return { status, message }
}

async function metric(): Promise<string | undefined> {
  const text = await runtime.metrics.registry.metrics()
  return text.split('\n').find((line) => line.includes(`{proof="${PROOF}"}`))
}

const findings = async () =>
  (await operate(url, 'GET', '/reconciliation')).body['violations'] as Record<string, unknown>[]

const mails = () =>
  runtime.db.rows<{ recipient: string; subject: string; body_text: string }>(
    `select recipient, subject, body_text from notices where account_id is null order by id`,
  )

const changeTreasury = (account_id: string, by_micros: number) =>
  owner_db.run(
    `update purses set balance_micros = balance_micros + $2
      where account_id = $1 and kind = 'treasury'`,
    [account_id, by_micros],
  )

test('a finding appears in health, metrics, console and one email, and goes away when it is fixed', async () => {
  const { account_id, key } = await openHolder(service, 25)
  await prove()
  assert.deepEqual(await findings(), [])
  const usual = await health(key)
  assert.match((await metric()) ?? '', / 0$/)

  await changeTreasury(account_id, 1_000_000)
  await prove()
  const [found] = await findings()
  assert.deepEqual(
    [found?.['proof'], found?.['account_id'], found?.['sentence']],
    [PROOF, account_id, 'The treasury purse has $26; its movements sum to $25.'],
  )
  const degraded = await health(key)
  assert.equal(degraded.status, 'degraded')
  if (usual.status === 'operational') assert.match(degraded.message ?? '', new RegExp(PROOF))
  assert.match((await metric()) ?? '', / 1$/)
  const [mail] = await mails()
  assert.equal(mail?.recipient, EMAIL)
  assert.match(mail?.subject ?? '', /1 new finding in the books/)
  const text = mail?.body_text ?? ''
  assert.match(text, /^The treasury purse has \$26; its movements sum to \$25\.$/m)
  assert.match(text, new RegExp(`^Object: \\S+\nAccount: ${account_id}\nFound: `, 'm'))

  await prove()
  assert.equal((await mails()).length, 1, 'no second email for the same finding')
  const reply = await send(url, 'POST', '/sandbox/v1/clock/advance', {
    bearer: key,
    body: { seconds: 25 * 3_600 },
  })
  assert.equal(reply.status, 200, reply.text)
  await prove()
  assert.match((await mails()).at(-1)?.subject ?? '', /1 finding in the books, still unresolved/)

  await changeTreasury(account_id, -1_000_000)
  await prove()
  assert.deepEqual(await findings(), [])
  assert.deepEqual(await health(key), usual)
  assert.match((await metric()) ?? '', / 0$/)
})
