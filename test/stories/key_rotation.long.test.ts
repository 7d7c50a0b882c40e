import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { watch } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type TOTP, URI } from 'otpauth'
import { createOperatorToken } from '#domain/operators/operator_token.ts'
import { parseKeyFile } from '#platform/storage/key_file.ts'
import { registerAgent, startAgentService } from '#test/support/agent.ts'
import { issueCard } from '#test/support/cards.ts'
import { eventually } from '#test/support/eventually.ts'
import { florin, spawnFlorin, startFlorin, temporaryFolder } from '#test/support/florin_process.ts'
import { send } from '#test/support/http.ts'
import { operate, setKillSwitch } from '#test/support/operator.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { turnOnTwoFactor } from '#test/support/second_factor.ts'
import { authorize } from '#test/support/spending.ts'
import { fund } from '#test/support/topups.ts'
import { subscribe } from '#test/support/webhooks.ts'
import { requested, withdrawalOf } from '#test/support/withdrawals.ts'

const service = await startAgentService()
const { url, runtime, tasks, data_dir, database_url } = service
const { db, keys } = runtime
const key_file = join(data_dir, 'keys.json')
const env = { FLORIN_DATA_DIR: data_dir, FLORIN_DATABASE_URL: database_url }

const statusOf = async (bearer: string) =>
  (await send(url, 'GET', '/v1/accounts/me', { bearer })).status

async function cvvOf(bearer: string, card_id: string): Promise<string> {
  const headers = { 'Reveal-Nonce': randomUUID() }
  const reply = await send(url, 'GET', `/v1/cards/${card_id}/pan`, { bearer, headers })
  assert.equal(reply.status, 200, reply.text)
  return String(reply.body['cvv'])
}

async function hashOfKey(id: string): Promise<string> {
  const sql = 'select key_hash from api_keys where id = $1'
  const [row] = await db.rows<{ key_hash: string }>(sql, [id])
  return row?.key_hash ?? ''
}

/** Until so many entries of the folder have come or gone, or the work is over. */
async function nthChangeIn(folder: string, n: number, ended: Promise<unknown>): Promise<void> {
  const changes = watch(folder)
  let seen = 0
  const enough = new Promise<void>((resolve) => {
    changes.on('change', (_kind, name) => {
      if (String(name).startsWith('keys.json')) seen += 1
      if (seen > n) resolve()
    })
  })
  await Promise.race([enough, ended])
  changes.close()
}

/** The service does this every ten seconds. */
const readKeyFile = () => tasks.run(['reseal_pans'])

test('bearers, security codes and approvals keep working through a rotation until it is retired', async () => {
  const person = await openAccount(url)
  const account = { url, bearer: person.bearer }
  await fund(url, person.bearer, 500)
  const used = await createKey(url, person.bearer)
  const unused = await createKey(url, person.bearer)
  const card = await issueCard(url, used.key, { load_usd: 50 })
  const old_cvv = await cvvOf(used.key, card.id)
  const term = { now: new Date(), days: 90 }
  const making = { random: runtime.random, keys, livemode: false, totp_secret: null, ...term }
  const operator = await createOperatorToken(db, { name: 'old', role: 'admin' }, making)
  const agent = await registerAgent(url, { token_endpoint_auth_method: 'client_secret_post' })
  const withdrawal = await requested(account, 20)
  await setKillSwitch(url, 'withdrawals', true)

  const rotated = await florin(['keys', 'rotate', '--activate-after', '0'], env)
  assert.equal(rotated.code, 0, rotated.output)
  await readKeyFile()
  assert.deepEqual(
    keys.credentialRoots().map(({ id }) => id),
    ['c2', 'c1'],
  )

  // A node remembers credentials for half a second; the next look-up renews the hash.
  await wait(600)
  assert.equal(await statusOf(person.bearer), 200)
  assert.equal(await statusOf(used.key), 200)
  assert.match(await hashOfKey(used.id), /^c2\./)
  assert.doesNotMatch(await hashOfKey(unused.id), /^c2\./)
  const made_since = await createKey(url, person.bearer)
  assert.match(await hashOfKey(made_since.id), /^c2\./)
  const new_cvv = await cvvOf(used.key, card.id)
  const buy = (cvv: string) => authorize(url, { key: used.key, card }, { amount: 1, cvv })
  assert.equal((await buy(old_cvv)).decline_code, null)
  assert.equal((await buy(new_cvv)).decline_code, null)
  const bearer = operator.token.open()
  assert.equal((await operate(url, 'GET', '/disputes', { bearer })).status, 200)
  const asked = { grant_type: 'refresh_token', refresh_token: 'x'.repeat(43) }
  const secret = String(agent.client['client_secret'])
  const form = { ...asked, client_id: agent.client.client_id, client_secret: secret }
  const token = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  assert.equal(
    ((await token.json()) as { error: string }).error,
    'invalid_grant',
    'not invalid_client',
  )

  await setKillSwitch(url, 'withdrawals', false)
  const isSent = async () => {
    await tasks.run(['send_withdrawals'])
    return (await withdrawalOf(account, withdrawal.id)).status !== 'pending'
  }
  assert(await eventually(isSent, { within_ms: 15_000 }), 'the signer takes the old approval')
  const asked_since = await requested(account, 20)
  const isSentToo = async () => {
    await tasks.run(['send_withdrawals'])
    return (await withdrawalOf(account, asked_since.id)).status !== 'pending'
  }
  assert(await eventually(isSentToo, { within_ms: 15_000 }), 'and one under the new root')

  const status = await florin(['keys', 'status'], env)
  assert.match(status.stdout, /^Current credential root: c2\nAlso accepted: c1\n/)
  assert.match(status.stdout, / api_keys: 1\n/)
  assert.equal((await florin(['keys', 'retire'], env)).code, 1, 'a key would stop working')
  assert.equal((await florin(['keys', 'retire', '--force'], env)).code, 0)
  await readKeyFile()
  assert.equal(await statusOf(unused.key), 401)
  for (const bearer of [person.bearer, used.key, made_since.key]) {
    assert.equal(await statusOf(bearer), 200)
  }
  if (old_cvv !== new_cvv) assert.equal((await buy(old_cvv)).decline_code, 'cvv_mismatch')
  assert.equal((await buy(new_cvv)).decline_code, null)
})

test('a recovery code made before a rotation works once after it', async () => {
  const person = await openAccount(url)
  const { recovery_codes } = await turnOnTwoFactor(url, person.bearer, runtime.clock)
  assert.equal((await florin(['keys', 'rotate', '--activate-after', '0'], env)).code, 0)
  await readKeyFile()
  const body = { password: 'a long enough password', totp_code: recovery_codes[0] }
  const off = await send(url, 'DELETE', '/v1/accounts/me/totp', { bearer: person.bearer, body })
  assert.equal(off.status, 204, off.text)
})

test('a new root is known to every node before it is used, and a second rotation waits', async () => {
  const file = parseKeyFile(key_file, await readFile(key_file, 'utf8'))
  if (file.credential_roots.length > 1) await florin(['keys', 'retire', '--force'], env)
  const rotated = await florin(['keys', 'rotate'], env)
  assert.match(rotated.stdout, /From 20\d\d-\S+Z on, new credentials/)
  await readKeyFile()
  const [current, next] = keys.credentialRoots()
  const wait_ms = Date.parse(next?.from ?? '') - Date.now()
  assert(wait_ms > 9 * 60_000 && wait_ms <= 10 * 60_000)
  const { key, id } = await createKey(url, (await openAccount(url)).bearer)
  assert((await hashOfKey(id)).startsWith(`${current.id}.`), 'still under the root before')
  assert.equal(await statusOf(key), 200)
  const again = await florin(['keys', 'rotate'], env)
  assert.match(again.stdout, /was not rotated: the last rotation is still in progress/)
  const retired = await florin(['keys', 'retire'], env)
  assert.match(retired.output, /not in use yet/)
  assert.notEqual(retired.code, 0)
})

test('kill -9 in the middle of rotations loses no key, no bearer and leaves no copy behind', async () => {
  const folder = await temporaryFolder()
  after(folder.remove)
  const own_env = { FLORIN_DATA_DIR: folder.path, FLORIN_RATE_PROFILE: 'off' }
  const first = await startFlorin(own_env)
  const own_file = join(folder.path, 'keys.json')
  const { bearer } = await openAccount(first.url)
  const known: Record<string, string> = {}
  for (let round = 0; round < 8; round += 1) {
    const work = spawnFlorin(['keys', 'rotate', '--activate-after', '0'], own_env)
    // Each round gets further: to its lock, its copy of the keys, the renaming, its end.
    await nthChangeIn(folder.path, round, work.ended)
    work.kill('SIGKILL')
    await work.ended
    const file = parseKeyFile(own_file, await readFile(own_file, 'utf8'))
    const roots = { ...file.roots }
    for (const { id, root } of file.credential_roots) roots[id] = root
    for (const [id, root] of Object.entries(known)) assert.equal(roots[id], root, `${id} is kept`)
    Object.assign(known, roots)
    const reply = await send(first.url, 'GET', '/v1/accounts/me', { bearer })
    assert.equal(reply.status, 200, reply.text)
  }
  first.signal('SIGKILL')
  await first.ended
  const finished = await florin(['keys', 'rotate'], own_env)
  assert.equal(finished.code, 0, finished.output)
  const names = (await readdir(folder.path)).filter((name) => name.startsWith('keys.json'))
  assert.deepEqual(names.sort(), ['keys.json', 'keys.json.lock'])
  assert.equal((await stat(own_file)).mode & 0o777, 0o600)
  const second = await startFlorin(own_env)
  const reply = await send(second.url, 'GET', '/v1/accounts/me', { bearer })
  assert.equal(reply.status, 200, 'a session of before all rotations')
  second.signal('SIGTERM')
  await second.ended
})

test('authenticator and webhook secrets move to the new sealing key and keep working', async () => {
  const person = await openAccount(url)
  await turnOnTwoFactor(url, person.bearer, runtime.clock)
  await subscribe(url, person, { url: 'http://127.0.0.1:3999/hook' })
  const operator = await florin(['operator', 'create', 'Kay', '--role', 'viewer', '--totp'], env)
  const totp = URI.parse(/otpauth:\S+/.exec(operator.stderr)?.[0] ?? '') as TOTP
  assert.equal((await florin(['keys', 'rotate'], env)).code, 0)
  await tasks.run(['reseal_secrets'])
  const prefix = keys.sealedPrefix()
  const sealed = await db.rows<{ sealed: string }>(
    `select totp_secret_sealed as sealed from accounts where totp_secret_sealed is not null
     union all select totp_secret_sealed from operator_tokens where totp_secret_sealed is not null
     union all select secret_sealed from webhooks`,
  )
  assert(sealed.length >= 3)
  assert(sealed.every((row) => row.sealed.startsWith(prefix)))
  const signed_in = await operate(url, 'POST', '/sessions', {
    bearer: operator.stdout.trim(),
    body: { totp_code: totp.generate() },
  })
  assert.equal(signed_in.status, 200, signed_in.text)
})
