import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { Secret } from '#kernel/secret.ts'
import { publicWalletsOf } from '#main/signer.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { loadKeys } from '#platform/storage/keys.ts'
import { APPROVAL_PURPOSE, approvalOf, type SignOutcome } from '#rails/signer/intent.ts'
import { eventually } from '#test/support/eventually.ts'
import { built_cli } from '#test/support/florin_process.ts'

/** The signer as in live mode: a separate process, called over its socket. */
const PHRASE = 'test test test test test test test test test test test junk'
const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const TO = 'TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA'
const folder = mkdtempSync(join(tmpdir(), 'florin_attacks_'))
after(() => rmSync(folder, { recursive: true }))

const [tron] = publicWalletsOf(new Secret(PHRASE))
const chain = {
  chain: 'tron',
  family: 'tron',
  chain_id: 728_126_428,
  url: 'http://127.0.0.1:9',
  xpub: tron?.xpub,
  hot_wallet: tron?.hot_wallets[0],
  assets: [{ asset: 'USDT', contract: USDT }],
}
const key_file = join(folder, 'keys.json')
const [approval_key = new Uint8Array()] = (await loadKeys(key_file, systemRandom)).materials(
  APPROVAL_PURPOSE,
  32,
)

let home: string
let signer: ChildProcess
let heard: string
const record = () => join(home, 'signer_intents.jsonl')
const mark = () => join(home, 'signer_mark.json')
const socket = () => join(home, 'signer.sock')

async function start(...options: string[]): Promise<void> {
  heard = ''
  signer = spawn(process.execPath, [built_cli, 'signer', ...options], {
    env: {
      PATH: process.env['PATH'],
      FLORIN_DATA_DIR: home,
      FLORIN_KEY_FILE: key_file,
      FLORIN_CHAINS: JSON.stringify([chain]),
      FLORIN_SIGNER_POLICY: JSON.stringify({ withdrawals_hourly_max_usd: 100 }),
    },
  })
  signer.stderr?.on('data', (text) => {
    heard += text
  })
  signer.stdin?.end(PHRASE)
  const isUp = async () => heard.includes('is listening on') || signer.exitCode !== null
  assert(await eventually(isUp, { within_ms: 30_000 }), heard)
}

async function stop(): Promise<void> {
  if (signer.exitCode !== null) return
  const ended = once(signer, 'exit')
  signer.kill()
  await ended
}

/** Starts the signer, expects that it exits, and returns its output. */
async function refusedStart(...options: string[]): Promise<string> {
  await start(...options)
  assert(await eventually(async () => signer.exitCode !== null, { within_ms: 10_000 }), heard)
  assert.equal(signer.exitCode, 78, heard)
  return heard
}

beforeEach(async () => {
  home = mkdtempSync(join(folder, 'home_'))
  await start('--new-record')
  assert.equal(signer.exitCode, null, heard)
})
afterEach(stop)

function intent(id: string, usd: number, given: object = {}) {
  const plain = { id, chain: 'tron', contract: USDT, to: TO, amount: String(usd * 1_000_000) }
  return {
    ...plain,
    attempt: 1,
    purpose: 'withdrawal',
    deposit_index: null,
    network: {
      family: 'tron',
      reference: { number: 100, id: '0000000000000064'.padEnd(64, 'ab') },
      fee_limit_sun: '20000000',
    },
    approval: approvalOf(approval_key, plain),
    ...given,
  }
}

/** Sends lines on one connection and returns the responses. */
async function ask(lines: readonly string[]): Promise<SignOutcome[]> {
  const peer = connect(socket())
  let text = ''
  peer.on('data', (part) => {
    text += part
  })
  peer.write(lines.map((line) => `${line}\n`).join(''))
  const isAnswered = async () => text.split('\n').length > lines.length
  assert(await eventually(isAnswered, { within_ms: 10_000 }), `no answer; it said: ${heard}`)
  peer.destroy()
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as SignOutcome)
}

const sign = async (one: object) => (await ask([JSON.stringify(one)]))[0]
const refusalOf = (outcome: SignOutcome | undefined) =>
  outcome?.ok === false ? outcome.refusal : null

test('no malformed intent ends the signer or is signed, whatever its fields hold', async () => {
  const good = intent('wd_fuzz', 1)
  const { network } = good
  const values: unknown[] = [null, true, -1, 0.5, 1e300, '', 'x', '1e3', '-1', '0x10', ' 1', [], {}]
  values.push('9'.repeat(4_000), [['tron']], { length: 1 }, '\u0000')
  const bad = [
    ...Object.keys(good).flatMap((name) => values.map((value) => ({ ...good, [name]: value }))),
    ...Object.keys(network).flatMap((name) =>
      values.map((value) => ({ ...good, network: { ...network, [name]: value } })),
    ),
    ...['number', 'id'].flatMap((name) =>
      values.map((value) => ({
        ...good,
        network: { ...network, reference: { ...network.reference, [name]: value } },
      })),
    ),
    { ...good, network: { family: 'evm', gas: 'x', max_fee_per_gas: 'y' } },
    { ...good, unknown_field: 1 },
  ].map((one) => JSON.stringify(one))
  for (const line of bad.filter((one) => one !== JSON.stringify(good))) {
    assert.notEqual(refusalOf((await ask([line]))[0]), null, line)
  }
  await fc.assert(
    fc.asyncProperty(fc.json(), fc.string(), async (json, text) => {
      const outcomes = await ask([json, text.replaceAll('\n', '')])
      assert(outcomes.every((one) => refusalOf(one) === 'bad_intent'))
    }),
    { numRuns: 30 },
  )
  assert.equal(signer.exitCode, null, heard)
  assert.equal((await sign(good))?.ok, true)
})

test('the signer still responds after huge frames, partial frames and many connections', async () => {
  const peers: Socket[] = []
  for (let count = 0; count < 200; count += 1) {
    const peer = connect(socket())
    peer.on('error', () => undefined)
    peers.push(peer)
    if (count % 2 === 0) peer.write('{"id":"wd_')
    else peer.write('x'.repeat(1_000_000))
  }
  const areClosed = async () => peers.filter(({ closed }) => closed).length >= 100
  assert(await eventually(areClosed, { within_ms: 10_000 }), 'huge frames close their connection')
  for (const peer of peers) peer.destroy()
  assert(
    await eventually(async () => (await sign(intent('wd_after', 1)))?.ok === true, {
      within_ms: 10_000,
    }),
  )
  assert.equal(signer.exitCode, null, heard)
})

test('only its user and group can open the socket', () => {
  assert.equal(statSync(socket()).mode & 0o777, 0o660)
})

test('a shortened record does not reset the limit of an hour: the signer will not start', async () => {
  assert.equal((await sign(intent('wd_1', 60)))?.ok, true)
  assert.equal((await sign(intent('wd_2', 40)))?.ok, true)
  assert.equal(refusalOf(await sign(intent('wd_3', 40))), 'velocity_exceeded')
  await stop()
  const [first = ''] = readFileSync(record(), 'utf8').split('\n')
  truncateSync(record(), first.length + 1)
  assert.match(await refusedStart(), /1 of at least 2 signed transfers/)
  truncateSync(record(), 0)
  assert.match(await refusedStart(), /0 of at least 2/)
  unlinkSync(record())
  assert.match(await refusedStart('--new-record'), /0 of at least 2/)
})

test('a record that was edited, swapped or written by another seed is refused', async () => {
  await sign(intent('wd_1', 60))
  await sign(intent('wd_2', 30))
  await stop()
  const text = readFileSync(record(), 'utf8')
  const [first = '', second = ''] = text.split('\n')
  const wrong = [
    text.replace('"amount":"60000000"', '"amount":"1"'),
    `${second}\n${first}\n`,
    `${first}\n${first}\n`,
    `${first.replace(/"hash":"."/, '"hash":"0')}\n${second}\n`,
    text.replaceAll(/"hash":"[0-9a-f]+",/g, ''),
    'not JSON\n',
  ]
  for (const one of wrong.filter((each) => each !== text)) {
    writeFileSync(record(), one)
    await refusedStart('--new-record')
  }
  writeFileSync(record(), text)
  await start()
  assert.equal(refusalOf(await sign(intent('wd_3', 40))), 'velocity_exceeded')
})

test('without its high-water mark it starts only with the flag for a new record', async () => {
  await sign(intent('wd_1', 60))
  await stop()
  unlinkSync(mark())
  assert.match(await refusedStart(), /high-water mark .* is missing/)
  await start('--new-record')
  assert.equal(refusalOf(await sign(intent('wd_2', 60))), 'velocity_exceeded')
})

test('a line that a crash cut off is dropped, and what was signed before is remembered', async () => {
  const first = await sign(intent('wd_1', 60))
  await stop()
  writeFileSync(record(), `${readFileSync(record(), 'utf8')}{"hash":"12`)
  await start()
  assert.deepEqual(await sign(intent('wd_1', 60)), first)
  assert.equal((await sign(intent('wd_2', 10)))?.ok, true)
})
