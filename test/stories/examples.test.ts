import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { root } from '#platform/runtime/root.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { installClient } from '#test/support/client_package.ts'
import { eventually } from '#test/support/eventually.ts'
import { temporaryFolder } from '#test/support/florin_process.ts'
import { authorize } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { skipWithout } from '#test/support/tools.ts'

const execute = promisify(execFile)
const service = await startTestService()
const { url } = service

/** A copy of the examples with the packages they install. */
const folder = await temporaryFolder()
after(folder.remove)
await cp(join(root, 'examples'), folder.path, { recursive: true })
await writeFile(join(folder.path, 'package.json'), '{"type": "module"}')
await installClient(folder.path)
const mcp = 'node_modules/@modelcontextprotocol'
await symlink(join(root, mcp), join(folder.path, mcp))

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
  const lines = await run('python3', 'python/first_card.py')
  assert.deepEqual(lines, [...walk, 'refused: insufficient_balance'])
})

test('an agent can buy up to its daily limit', async () => {
  const lines = await run(process.execPath, 'agent/shopper.js', 100)
  const expected = [
    /^the agent has 49 tools$/,
    /^buying a book for 15 dollars$/,
    /^ {2}paying with 400000…\d{4}, \d\d\/\d\d$/,
    /^ {2}authorization: pending$/,
    /^buying a lamp for 15 dollars$/,
    /^ {2}decline: limit_daily$/,
    /^spent 15 of 20 dollars today$/,
  ]
  assert.equal(lines.length, expected.length, lines.join('\n'))
  for (const [at, line] of expected.entries()) assert.match(lines[at] ?? '', line)
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
