import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { produceEvent } from '#cli/sandbox/trigger.ts'
import { type EventType, event_types } from '#contract/events.ts'
import { operations } from '#contract/operations.ts'
import {
  allow,
  authorize,
  openConsent,
  registerAgent,
  startAgentService,
} from '#test/support/agent.ts'
import { Browser } from '#test/support/browser.ts'
import { approvalIn, grantBudget, loadCard } from '#test/support/budgets.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { eventually } from '#test/support/eventually.ts'
import { florin as run, spawnFlorin, temporaryFolder } from '#test/support/florin_process.ts'
import { send } from '#test/support/http.ts'
import { OPERATOR_TOKEN } from '#test/support/operator.ts'
import { PASSWORD } from '#test/support/people.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { webhooksOf } from '#test/support/webhooks.ts'

const service = await startAgentService()
const { url, runtime } = service
const holder = await openHolder(service)
const config = await temporaryFolder()
after(config.remove)

const home = { XDG_CONFIG_HOME: config.path }
const bare = (...words: string[]) => run(words, { ...home, FLORIN_URL: url })
const florin = (...words: string[]) =>
  run(words, { ...home, FLORIN_URL: url, FLORIN_KEY: holder.key })

async function json(...words: string[]) {
  const { code, stdout, stderr } = await florin(...words, '--json')
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

test('florin approvals lists what waits for the owner and decides it', async () => {
  const owner = await openHolder(service, 100)
  const card = await issueCard(url, owner.key)
  const { token } = await grantBudget(url, owner, { amount_usd: 5 })
  const call = (usd: number) => loadCard(url, token, { id: card.id, usd })
  const [first, second] = [approvalIn(await call(20)), approvalIn(await call(30))]
  const asOwner = async (...words: string[]) => {
    const environment = { ...home, FLORIN_URL: url, FLORIN_KEY: owner.bearer }
    const { code, stdout, stderr } = await run(words, environment)
    assert.equal(code, 0, stderr)
    return stdout
  }
  assert.match(await asOwner('approvals', 'list'), /Shopper wants to load \$20\.00/)
  assert.match(await asOwner('approvals', 'approve', first.id), /approved/)
  const declined = await asOwner('approvals', 'decline', second.id, '--json')
  assert.equal(JSON.parse(declined).status, 'declined')
  assert.equal((await call(20)).status, 200)
  assert.deepEqual(JSON.parse(await asOwner('approvals', '--json')).data, [])
  assert.equal(JSON.parse(await asOwner('approvals', '--json', '--all')).data.length, 2)
})

test('a command that needs an approval says where the owner decides', async () => {
  const owner = await openHolder(service, 100)
  const card = await issueCard(url, owner.key)
  const { token } = await grantBudget(url, owner, { amount_usd: 5 })
  const asAgent = { ...home, FLORIN_URL: url, FLORIN_KEY: token }
  const words = ['load_card', card.id, '--amount_usd', '20']
  const refused = await run(words, asAgent)
  assert.equal(refused.code, 3)
  const scripted = JSON.parse((await run([...words, '--json'], asAgent)).stderr)
  const { id, url: page } = scripted.approval
  const hint = `The owner decides at ${page}, or with \`florin approvals approve ${id}\`.\n`
  assert(refused.stderr.includes(hint), refused.stderr)
})

test('commands from top-up to refund print JSON with --json and tables without', async () => {
  const topup = await json('create_topup', '--amount_usd', '100')
  await florin('sandbox', 'topups', 'deposit', topup.id, '--amount_usd', '100')
  await florin('sandbox', 'topups', 'confirm', topup.id)
  const words = ['--type', 'virtual', '--load-usd', '50', '--limits.daily_usd', '20']
  const card = await json('issue-card', ...words, '--metadata.order', 'A-7', '--geo.allow', 'DE,FR')
  assert.deepEqual([card.balance_usd, card.limits.daily_usd], [50, 20])
  assert.deepEqual([card.metadata, card.geo.allow], [{ order: 'A-7' }, ['DE', 'FR']])
  const mixed = ['--metadata.order', 'A-8', '--metadata', '{"shop": "B"}']
  const updated = await json('update_card', card.id, ...mixed)
  assert.deepEqual(updated.metadata, { shop: 'B', order: 'A-8' })
  const freed = await json('set_card_geo', card.id, '--allow', 'null')
  assert.equal(freed.geo.allow, null)

  const held = await json('sandbox', 'cards', 'authorize', card.id, '--amount', '12.50')
  await florin('sandbox', 'transactions', 'capture', held.id)
  await florin('sandbox', 'transactions', 'refund', held.id, '--amount', '2.5')
  const { stdout } = await florin('list_card_transactions', card.id)
  const [header = '', ...lines] = stdout.trimEnd().split('\n')
  assert.match(header, /^amount +merchant +status +type +created +id$/)
  assert.deepEqual(
    lines
      .map((line) => line.trim().split(/ {2,}/))
      .map(([amount, , ...rest]) => [amount, ...rest.slice(0, 2)]),
    [
      ['$2.50', 'settled', 'refund'],
      ['$12.50', 'settled', 'capture'],
      ['$12.50', 'captured', 'authorization'],
    ],
  )
  const rows = (await florin('list_transactions', '--all', '--limit', '1', '--json')).stdout
  assert.deepEqual(
    rows
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type),
    ['refund', 'capture', 'authorization'],
  )
  assert.match((await florin('get_card', card.id)).stdout, /^limits\.daily_usd +\$20\.00$/m)

  const file = join(config.path, 'receipt.txt')
  await writeFile(file, 'Paid 12.50 USD\n')
  const captured = (await json('list_transactions', '--type', 'capture')).data[0].id
  const explanation = 'It never came.'
  const body = JSON.stringify({ transaction_id: captured, reason: 'not_received', explanation })
  const dispute = await json('file_dispute', '--data', body)
  const shown = ['add_dispute_evidence', dispute.id, '--kind', 'receipt', '--file', file]
  const { evidence } = await json(...shown)
  assert.deepEqual([evidence[0].file_name, evidence[0].size_bytes], ['receipt.txt', 15])
})

test('each class of failure has its exit code, and the message shows error code and request ID', async () => {
  const refused = await florin('load_card', 'card_01kc3z8e5xf8m9r4t2v6w7y8za', '--amount_usd', '1')
  assert.equal(refused.code, 4)
  assert.match(refused.stderr, /^No such card\.\n\(not_found, request req_\w+\)\n$/)
  assert.equal(refused.stdout, '')
  const cases: [number, string[]][] = [
    [2, ['load_card', 'card_1']],
    [2, ['load_card', 'card_1', '--amount_usd', 'much']],
    [2, ['load_card']],
    [2, ['get_card', '']],
    [2, ['sandbox', 'topups', 'confirm', '..']],
    [2, ['no_such_command']],
    [2, ['get_balance', '--no_such_flag', '1']],
    [2, ['list_cards', '--status', 'lost']],
    [3, ['get_balance', '--key', 'flk_test_nobody']],
    [5, ['issue_card', '--type', 'virtual', '--load_usd', '9999']],
    [5, ['create_topup', '--amount_usd', '0.001']],
    [7, ['get_balance', '--server', 'http://127.0.0.1:9']],
  ]
  for (const [code, words] of cases) {
    const ended = await florin(...words)
    assert.equal(ended.code, code, `${words.join(' ')}: ${ended.stderr}`)
    assert.notEqual(ended.stderr, '')
  }
  const scripted = await florin('get_card', 'card_1', '--json')
  assert.equal(JSON.parse(scripted.stderr).error, 'not_found')
})

const kept = async () =>
  JSON.parse(await readFile(join(config.path, 'florin/profiles.json'), 'utf8')).profiles

test('profiles are readable by their owner only, and logout ends the session', async () => {
  assert.equal((await bare('get_account')).code, 3)
  assert.equal((await bare('login', '--key', 'flk_test_wrong')).code, 3)
  const by_key = ['login', '--server', url, '--key', '-', '--profile', 'k']
  assert.equal((await run(by_key, home, holder.key)).code, 0)
  const { mode } = await stat(join(config.path, 'florin/profiles.json'))
  assert.equal(mode & 0o777, 0o600)
  assert.match((await run(['get_account'], home)).stdout, new RegExp(holder.email))
  // A profile's bearer is sent only to the URL it was saved for.
  const elsewhere = ['get_account', '--server', url.replace('127.0.0.1', 'localhost')]
  assert.equal((await run(elsewhere, home)).code, 3)

  const by_password = ['login', '--email', holder.email, '--password', '-', '--profile', 's']
  assert.equal((await run([...by_password, '--server', url], home, PASSWORD)).code, 0)
  const listed = JSON.parse((await bare('profiles', '--json')).stdout) as Record<string, unknown>[]
  assert.deepEqual(
    listed.map(({ name, kind, current }) => [name, kind, current]),
    [
      ['k', 'key', false],
      ['s', 'session', true],
    ],
  )
  const { bearer } = (await kept()).s
  assert.equal((await bare('logout')).code, 0)
  const refused = await send(url, 'GET', '/v1/accounts/me', { bearer })
  assert.equal(refused.body['error'], 'token_revoked')
  assert.equal((await bare('logout')).code, 0)
  assert.equal((await bare('logout')).code, 2)
})

test('browser login gives a token with the approved scopes, renews it and revokes it on logout', async () => {
  const login = spawnFlorin(['login', '--server', url, '--no-browser', '--profile', 'b'], home)
  const address = () => /https?:\S+/.exec(login.captured.stderr)?.[0]
  assert.ok(await eventually(async () => address() !== undefined, { within_ms: 20_000 }))
  const browser = new Browser(url)
  const page = await openConsent(browser, address() ?? '', holder)
  const callback = await allow(browser, page, { scopes: ['account:read', 'card:read'] })
  const wrong = new URL(callback)
  wrong.searchParams.set('state', 'guessed')
  assert.equal((await fetch(wrong)).status, 404)
  assert.equal((await fetch(callback)).status, 200)
  assert.equal((await login.ended).code, 0, login.captured.stderr)

  const mine = (...words: string[]) => run([...words, '--profile', 'b'], home)
  assert.equal((await mine('list_cards')).code, 0)
  assert.equal((await mine('create_topup', '--amount_usd', '10')).code, 3)
  const first = (await kept()).b
  await writeFile(
    join(config.path, 'florin/profiles.json'),
    JSON.stringify({ current: 'b', profiles: { b: { ...first, expires_at: '2020-01-01' } } }),
  )
  assert.equal((await mine('get_account')).code, 0)
  const second = (await kept()).b
  assert.notEqual(second.bearer, first.bearer)
  assert.equal((await mine('logout')).code, 0)
  const refused = await send(url, 'GET', '/v1/accounts/me', { bearer: second.bearer })
  assert.equal(refused.status, 401)
})

/** A profile whose token has to be renewed before its next call. */
async function saveExpiredProfile(name: string, profile: object) {
  const path = join(config.path, 'florin/profiles.json')
  const { current, profiles } = JSON.parse(await readFile(path, 'utf8'))
  const expired = { url, kind: 'token', bearer: 'x', expires_at: '2020-01-01', ...profile }
  await writeFile(path, JSON.stringify({ current, profiles: { ...profiles, [name]: expired } }))
}

test('a login that is denied is not allowed, and a stray request does not end it', async () => {
  const login = spawnFlorin(['login', '--server', url, '--no-browser', '--profile', 'd'], home)
  const address = () => /https?:\S+/.exec(login.captured.stderr)?.[0]
  assert.ok(await eventually(async () => address() !== undefined, { within_ms: 20_000 }))
  const { searchParams } = new URL(address() ?? '')
  const callback = new URL(searchParams.get('redirect_uri') ?? '')
  assert.equal((await fetch(`${callback.origin}//`)).status, 404)
  const state = searchParams.get('state') ?? ''
  callback.search = String(new URLSearchParams({ error: 'access_denied', state }))
  assert.match(await (await fetch(callback)).text(), /^You are not logged in\./)
  assert.equal((await login.ended).code, 3)
  assert.match(login.captured.stderr, /Access was denied on the consent page\.\n\(access_denied\)/)
})

test('a command with --profile leaves the current profile, also if it renews a token', async () => {
  const login = ['login', '--server', url, '--key', '-', '--profile', 'mine']
  assert.equal((await run(login, home, holder.key)).code, 0)
  const agent = await registerAgent(url, { token_endpoint_auth_method: 'none' })
  const { refresh_token } = await authorize(agent, holder, { resource: `${url}/v1` })
  await saveExpiredProfile('agent', { client_id: agent.client.client_id, refresh_token })
  const used = await run(['get_account', '--profile', 'agent'], home)
  assert.equal(used.code, 0, used.stderr)
  assert.notEqual((await kept()).agent.bearer, 'x')
  const listed = JSON.parse((await bare('profiles', '--json')).stdout) as Record<string, unknown>[]
  assert.deepEqual(
    listed.filter(({ current }) => current).map(({ name }) => name),
    ['mine'],
  )
})

test('a login whose access has ended names its profile and says how to log in again', async () => {
  await saveExpiredProfile('old', { client_id: 'unknown', refresh_token: 'x' })
  const ended = await run(['get_account', '--profile', 'old'], home)
  assert.equal(ended.code, 3)
  assert.match(
    ended.stderr,
    /^The login of profile old has expired or was revoked\.\nRun `florin login`/,
  )
})

const countOf = async (type: string) => {
  const sql = 'select count(*) as count from events where type = $1 and sequence is not null'
  const [row] = await runtime.db.rows<{ count: bigint }>(sql, [type])
  return row?.count ?? 0n
}

async function assertEmits(type: string, run_trigger: () => Promise<unknown>): Promise<void> {
  const before = await countOf(type)
  const output = await run_trigger()
  const isEmitted = async () => (await countOf(type)) > before
  assert.ok(await eventually(isEmitted, { within_ms: 20_000 }), `${type}: ${output}`)
}

test('trigger produces each of the 18 events', async () => {
  process.env['FLORIN_OPERATOR_TOKEN'] = OPERATOR_TOKEN
  for (const type of Object.keys(event_types) as EventType[]) {
    const lines: string[] = []
    const print = (line: string) => void lines.push(line)
    await assertEmits(type, async () => {
      await produceEvent(type, { url, bearer: holder.key }, { print })
      return lines.join('\n')
    })
  }
})

test('florin trigger prints its steps, and lists the event types if the type is unknown', async () => {
  await assertEmits('card.frozen', async () => {
    const { code, stdout } = await florin('trigger', 'card.frozen')
    assert.equal(code, 0)
    assert.match(stdout, /^ {2}issue_card: card_\w+\ncard\.frozen: A card was frozen/)
  })
  const unknown = await florin('trigger', 'card.lost')
  assert.equal(unknown.code, 2)
  assert.match(unknown.stderr, /card\.frozen/)
})

test('florin listen forwards what florin trigger makes, and ends with its webhook', async () => {
  const owner = await openHolder(service)
  const environment = { ...home, FLORIN_URL: url, FLORIN_KEY: owner.key }
  const app = await startReceiver()
  const listening = spawnFlorin(['listen', '--forward', app.url], environment)
  const hasPrinted = (text: RegExp) => () => Promise.resolve(text.test(listening.captured.stdout))
  assert(await eventually(hasPrinted(/Forwarding to/), { within_ms: 20_000 }))
  assert.equal((await run(['trigger', 'card.frozen'], environment)).code, 0)
  assert(await eventually(hasPrinted(/card\.frozen .*-> 200$/m), { within_ms: 20_000 }))
  listening.kill('SIGINT')
  assert.equal((await listening.ended).code, 0)
  assert.deepEqual(await webhooksOf(url, owner.bearer), [])
})

test('help lists every operation, and explains one command with its flags', async () => {
  const all = (await bare('--help')).stdout
  for (const name of Object.keys(operations)) assert.match(all, new RegExp(`^ +${name}\\b`, 'm'))
  const calls = (await bare('operator', '--help')).stdout
  for (const name of ['create', 'list_tickets'])
    assert.match(calls, new RegExp(`^ +${name}\\b`, 'm'))
  const one = (await bare('load_card', '--help')).stdout
  assert.match(one, /--amount_usd <.*>/)
  for (const line of `${all}${calls}${one}`.split('\n')) assert(line.length <= 80, line)
})

test('shell completion scripts complete commands and flags', async () => {
  const { stdout } = await bare('completion', 'bash')
  const complete = (typed: string) =>
    `COMP_WORDS=(${typed}) COMP_CWORD=3; _florin; echo "\${COMPREPLY[@]}"`
  const script = [
    stdout,
    complete('florin load_card card_1 --amo'),
    complete('florin sandbox topups c'),
  ]
  const completed = await promisify(execFile)('bash', ['-c', script.join('\n')])
  assert.deepEqual(completed.stdout.trim().split('\n'), ['--amount_usd', 'confirm'])
  assert.match((await bare('completion', 'fish')).stdout, /-l amount_usd/)
  assert.match((await bare('completion', 'zsh')).stdout, /^autoload/)
  assert.equal((await bare('completion', 'tcsh')).code, 2)
})

test('trigger announces maintenance after the clock of the sandbox was moved', async () => {
  const advanced = await florin('sandbox', 'clock', 'advance', '--seconds', '259200')
  assert.equal(advanced.code, 0, advanced.stderr)
  process.env['FLORIN_OPERATOR_TOKEN'] = OPERATOR_TOKEN
  const print = () => undefined
  await assertEmits('system.maintenance', () =>
    produceEvent('system.maintenance', { url, bearer: holder.key }, { print }),
  )
})
