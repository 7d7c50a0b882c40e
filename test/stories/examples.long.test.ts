import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { default_scopes } from '#contract/scopes.ts'
import { root } from '#platform/runtime/root.ts'
import {
  authorize as authorizeAgent,
  registerAgent,
  startAgentService,
} from '#test/support/agent.ts'
import { type Holder, issueCard, openHolder } from '#test/support/cards.ts'
import { installClient } from '#test/support/client_package.ts'
import { eventually } from '#test/support/eventually.ts'
import { temporaryFolder } from '#test/support/florin_process.ts'
import { send } from '#test/support/http.ts'
import { authorize, follow } from '#test/support/spending.ts'
import { findTool, skipWithout } from '#test/support/tools.ts'

const execute = promisify(execFile)
const service = await startAgentService()
const { url } = service

/** A copy of the examples with the packages they install. */
const folder = await temporaryFolder()
after(folder.remove)
await cp(join(root, 'examples'), folder.path, { recursive: true })
await writeFile(join(folder.path, 'package.json'), '{"type": "module"}')
await installClient(folder.path)
const mcp = 'node_modules/@modelcontextprotocol'
await symlink(join(root, 'test/packages', mcp), join(folder.path, mcp))

const envOf = (key: string) => ({
  PATH: process.env['PATH'] ?? '',
  FLORIN_URL: url,
  FLORIN_KEY: key,
})

async function run(command: string, file: string, usd = 0): Promise<string[]> {
  const { key } = await openHolder(service, usd)
  const [path, name = ''] = [join(folder.path, file, '..'), file.split('/').at(-1)]
  const { stdout } = await execute(command, [name], { cwd: path, env: envOf(key) })
  return stdout.trimEnd().split('\n')
}

test('curl', { skip: skipWithout('curl') }, async () => {
  assert.deepEqual(await run('bash', 'curl/first_card.sh'), [
    'balance: 100',
    'card: frozen, 40 left',
  ])
})

const walk = ['balance: 100', 'refund: 2.5', 'capture: 12.5', 'authorization: 12.5']

test('Node, with the packed client', async () => {
  const [send, ...lines] = await run(process.execPath, 'node/first_card.js')
  assert.match(send ?? '', /^send 100 USDT on tron to T\w{33}$/)
  assert.deepEqual(lines, [...walk, 'refused: insufficient_balance'])
})

test('Python, with requests', { skip: skipWithout('requests for Python') }, async () => {
  const lines = await run(findTool('requests for Python') ?? '', 'python/first_card.py')
  assert.deepEqual(lines, [...walk, 'refused: insufficient_balance'])
})

type GrantedAgent = { holder: Holder; token: string }

/** A token as the consent page grants it. */
async function grant(scopes: readonly string[], budget_usd?: number): Promise<GrantedAgent> {
  const holder = await openHolder(service, 200)
  const agent = await registerAgent(url, { client_name: 'Example' })
  const detail = { type: 'spend_budget', amount_usd: budget_usd, period: 'day' }
  const { access_token } = await authorizeAgent(agent, holder, {
    scope: scopes.join(' '),
    scopes: [...scopes],
    ...(budget_usd !== undefined && { authorization_details: [detail] }),
  })
  return { holder, token: access_token }
}

async function runAgent(file: string, { holder, token }: GrantedAgent): Promise<string> {
  const env = { ...envOf(holder.key), FLORIN_TOKEN: token }
  const cwd = join(folder.path, 'agent')
  return (await execute(process.execPath, [file], { cwd, env })).stdout
}

test('the shopper buys with a card that nobody can charge again', async () => {
  const scopes = ['card:issue', 'card:control', 'card:read', 'card:reveal_pan']
  const output = await runAgent('shopper.js', await grant(scopes, 20))
  assert.match(output, /^Buy the book \(\d+ tools\)$/m)
  assert.match(output, /^Bought for \$15: pending\. Charged again: \w+\. The card is cancelled\.$/m)
})

test('the bookkeeper finds the month in order and has no tool that moves money', async () => {
  const granted = await grant(default_scopes)
  const { holder } = granted
  const card = await issueCard(url, holder.key, { load_usd: 50 })
  for (const amount of [12.5, 7.25]) {
    const bought = await authorize(url, { ...holder, card }, { amount })
    await follow(url, holder, { id: bought.id, verb: 'capture' })
  }
  const output = await runAgent('bookkeeper.js', granted)
  assert.match(output, /^2 purchases of \$19\.75 and the report of \$19\.75 agree\.$/m)
  assert.match(output, /^It cannot move money\.$/m)
})

test('the agent for declines loads within its budget and asks beyond it', async () => {
  const granted = await grant(['card:control', 'card:read', 'transaction:read'], 30)
  const { holder } = granted
  const card = await issueCard(url, holder.key, { load_usd: 1 })
  const decline = (merchant_name: string, amount: number) =>
    authorize(url, { ...holder, card }, { merchant_name, amount })
  await decline('Corner Books', 20)
  await decline('Bright Things', 25)
  await send(url, 'PATCH', `/v1/cards/${card.id}/limits`, {
    bearer: holder.key,
    body: { per_transaction_usd: 5 },
  })
  await decline('Far Travel', 6)
  const lines = (await runAgent('declines.js', granted)).trimEnd().split('\n').slice(-3)
  assert.match(lines[0] ?? '', /^Far Travel: .+ Left to the owner\.$/)
  assert.match(lines[1] ?? '', /^Bright Things: loaded \$25\.$/)
  assert.match(lines[2] ?? '', /^Corner Books: asked the owner to load \$20\.$/)
})

test('the webhook receiver verifies, responds, decides 3-D Secure and deletes its webhook', async () => {
  const holder = await openHolder(service, 500)
  const child = spawn(process.execPath, ['receiver.js'], {
    cwd: join(folder.path, 'webhook_receiver'),
    env: envOf(holder.key),
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += String(chunk)
  })
  const says = (words: RegExp) => eventually(async () => words.test(output), { within_ms: 10_000 })
  try {
    assert.ok(await says(/listening on http/), output)
    const address = /http:\S+/.exec(output)?.[0] ?? ''
    const card = await issueCard(url, holder.key, { load_usd: 200 })
    assert.ok(await says(new RegExp(`card.issued ${card.id}`)), output)
    const bought = await authorize(url, { ...holder, card }, { amount: 20, three_ds: true })
    assert.equal(bought.three_ds?.result, 'approved')
    assert.match(output, /three_ds.challenge approve/)
    assert.equal((await fetch(address, { method: 'POST', body: '{}' })).status, 400)
    assert.ok(await says(/refused: no_signature/), output)
  } finally {
    child.kill('SIGTERM')
    await once(child, 'close')
  }
  const reply = await fetch(`${url}/v1/webhooks`, {
    headers: { authorization: `Bearer ${holder.key}` },
  })
  assert.deepEqual(((await reply.json()) as { data: unknown[] }).data, [])
})
