import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeFetch } from '#platform/http_client/node_fetch.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import { parseChains } from '#rails/chain/chain_settings.ts'
import { depositSource } from '#rails/chain/deposit_source.ts'
import { networkCheck } from '#rails/chain/network_check.ts'
import { FAKE_USDT_ADDRESS, startTronNode, USDT_ADDRESS } from '#sandbox/tron_node.ts'
import { CONFIRMATIONS, startEvmNode, startEvmService } from '#test/support/evm.ts'
import { florin } from '#test/support/florin_process.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { balanceOf, topupIn } from '#test/support/topups.ts'

const node = await startEvmNode()
const contract = await node.deploy(18)
const { url, tasks, runtime, sandbox, database_url, data_dir } = await startEvmService(node, {
  assets: [{ asset: 'USDC', contract }],
})

test('deposits of a token with 18 decimals are not credited, and health reports why', async () => {
  const { bearer } = await openAccount(url)
  const body = { amount_usd: 25, asset: 'USDC', chain: 'ethereum' }
  const { deposit_address } = topupIn(await send(url, 'POST', '/v1/topups', { bearer, body }))
  await node.pay(deposit_address, 25_000_000n, contract)
  await node.mine(CONFIRMATIONS)
  for (let look = 0; look < 3; look += 1) await tasks.run(['watch_deposits', 'audit_deposits'])
  assert.equal((await balanceOf(url, bearer)).balance_usd, 0)
  const { status, message } = await runtime.probes.rails()
  assert.equal(status, 'outage')
  assert.match(message ?? '', /USDC at 0x\w{40} has 18 decimals; 6 are configured/)
})

test('florin doctor reports a token with other decimals than configured', async () => {
  const chain = runtime.settings.chains.find((one) => one.chain === 'ethereum')
  assert(chain !== undefined)
  const { xpub, hot_wallet, chain_id } = chain
  const told = { xpub, hot_wallet, chain_id, assets: [{ asset: 'USDC', contract }] }
  const { code, stdout } = await florin(['doctor', '--json'], {
    FLORIN_DATABASE_URL: database_url,
    FLORIN_DATA_DIR: data_dir,
    FLORIN_CHAINS: JSON.stringify([{ chain: 'ethereum', family: 'evm', url: node.url, ...told }]),
  })
  assert.equal(code, 1, stdout)
  const findings = JSON.parse(stdout) as { name: string; state: string; found: string }[]
  const found = findings.find(({ name }) => name === 'ethereum node')
  assert.equal(found?.state, 'wrong')
  assert.match(found?.found ?? '', /USDC at 0x\w{40} has 18 decimals; 6 are configured/)
})

test('a token of 18 decimals on TRON, or one that does not say, stops the chain', async () => {
  const tron = await startTronNode({
    now: () => systemClock().now().getTime(),
    assets: [{ address: USDT_ADDRESS, decimals: 18 }, { address: FAKE_USDT_ADDRESS }],
  })
  try {
    const [known] = sandbox.settings.chains
    const checkOf = (at: string) => {
      const assets = [{ asset: 'USDT', contract: at, decimals: 6 }]
      const settings = { ...known, url: tron.url, assets } as NonNullable<typeof known>
      const chain = chainsOf([settings]).get('tron')
      assert(chain !== undefined)
      return networkCheck(chain, depositSource(settings, nodeFetch(5_000)))
    }
    await assert.rejects(checkOf(USDT_ADDRESS)(), /USDT at T\w+ has 18 decimals; 6 are configured/)
    await assert.rejects(checkOf(tron.exchange)(), /has no decimals\(\)/)
    await checkOf(FAKE_USDT_ADDRESS)()
  } finally {
    await tron.stop()
  }
})

test('settings that name other decimals than 6 are refused with a sentence', () => {
  const entry = {
    chain: 'bsc',
    family: 'evm',
    url: 'http://127.0.0.1:9',
    xpub: 'x',
    hot_wallet: 'x',
    chain_id: 56,
  }
  const assets = [{ asset: 'USDT', contract: 'x', decimals: 18 }]
  assert.throws(() => parseChains([{ ...entry, assets }]), /decimals of an asset must be 6/)
})
