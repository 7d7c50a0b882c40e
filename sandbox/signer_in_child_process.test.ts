// Runs alone, because it lists its child processes.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '#platform/runtime/clock.ts'
import { CHAIN_DEFAULTS } from '#rails/chain/chain_settings.ts'
import { bytesFromTronAddress } from '#rails/chain/tron/address.ts'
import { signerClient } from '#rails/signer/client.ts'
import type { TransferIntent } from '#rails/signer/intent.ts'
import { eventually } from '#test/support/eventually.ts'
import { signerInChildProcess } from './signer_in_child_process.ts'
import { USDT_ADDRESS } from './tron_node.ts'

const data_dir = mkdtempSync(join(tmpdir(), 'florin_apart_'))
after(() => rmSync(data_dir, { recursive: true, force: true }))
const clock = systemClock()
const socket = join(data_dir, 's.sock')

/** The child processes of this process. */
function children(): number[] {
  const path = `/proc/${process.pid}/task/${process.pid}/children`
  return readFileSync(path, 'utf8').split(' ').filter(Boolean).map(Number)
}

test('the signer runs in a child process that is replaced when it dies and exits with us', async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux lists child processes')
  const now_ms = () => clock.now().getTime()
  const startSigner = signerInChildProcess({ now_ms, every: clock.every })
  const signer = await startSigner({ data_dir, key_file: join(data_dir, 'keys.json') })
  const tron = {
    ...CHAIN_DEFAULTS,
    chain: 'tron',
    family: 'tron' as const,
    url: 'http://127.0.0.1:9',
    xpub: signer.xpub,
    hot_wallet: signer.hot_wallet,
    assets: [{ asset: 'USDT', contract: USDT_ADDRESS, decimals: 6 }],
    chain_id: 728_126_428,
  }
  await signer.serve({ chains: [tron], socket })
  assert(bytesFromTronAddress(signer.hot_wallet) !== null)
  const intent: TransferIntent = {
    id: 'sweep:1',
    attempt: 1,
    purpose: 'sweep',
    chain: 'tron',
    contract: USDT_ADDRESS,
    deposit_index: 3,
    to: signer.hot_wallet,
    amount: '5',
    network: {
      family: 'tron',
      reference: { number: 100, id: '0000000000000064'.padEnd(64, 'ab') },
      fee_limit_sun: '20000000',
    },
    approval: null,
  }
  const client = signerClient(socket, clock)
  const first = await client.sign(intent)
  assert(first.ok)
  const [pid = 0, ...others] = children()
  assert.equal(others.length, 0)
  process.kill(pid, 'SIGTERM')
  assert.deepEqual(await client.sign(intent), first, 'it ignores SIGTERM')
  process.kill(pid, 'SIGKILL')
  const isBack = async () => {
    const again = await client.sign(intent).catch(() => null)
    return again !== null && JSON.stringify(again) === JSON.stringify(first)
  }
  assert(await eventually(isBack, { within_ms: 15_000 }))
  const [second = 0] = children()
  assert.notEqual(second, pid)
  process.kill(second, 'SIGKILL')
  const isReplaced = async () => children().some((each) => each !== second)
  assert(await eventually(isReplaced, { within_ms: 15_000 }))
  for (const each of children()) process.kill(each, 'SIGKILL')
  assert(await eventually(isBack, { within_ms: 15_000 }), 'also after one that could not start')
  await signer.stop()
  assert.deepEqual(children(), [])
})
