import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { hexToBytes } from '@noble/hashes/utils.js'
import ganache from 'ganache'
import { createWalletClient, http, parseAbi, publicActions } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { mainnet } from 'viem/chains'
import { Secret } from '#kernel/secret.ts'
import { evmAddressFromBytes } from '#rails/chain/evm/address.ts'
import { walletFromPhrase } from '#rails/signer/wallet.ts'
import { assetBytecode } from '#test/fixtures/evm/asset.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { balanceOf, topupIn, topupOf } from '#test/support/topups.ts'
import { withdrawalOf } from '#test/support/withdrawals.ts'

const PHRASE = 'test test test test test test test test test test test junk'
/** Whose money comes from outside: the node's own accounts, which are none of ours. */
const OUTSIDE_PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
const OUTSIDER = evmAddressFromBytes(new Uint8Array(20).fill(0xab))
const CONFIRMATIONS = 4
const abi = parseAbi([
  'function transfer(address,uint256) returns (bool)',
  'function balanceOf(address) view returns (uint256)',
])

const server = ganache.server({
  chain: { chainId: 1, hardfork: 'shanghai' },
  wallet: { mnemonic: OUTSIDE_PHRASE, totalAccounts: 3 },
  logging: { quiet: true },
})
await server.listen(0)
after(() => server.close())
const node_url = `http://127.0.0.1:${server.address().port}`
const outside = createWalletClient({
  account: mnemonicToAccount(OUTSIDE_PHRASE),
  chain: mainnet,
  transport: http(node_url),
}).extend(publicActions)
const rpc = (method: string, params: unknown[] = []) =>
  outside.request({ method: method as never, params: params as never }) as Promise<unknown>
const mine = async (count: number) => {
  for (let left = count; left > 0; left -= 1) await rpc('evm_mine')
}

const deployed = await outside.sendTransaction({ data: assetBytecode() as `0x${string}` })
const { contractAddress } = await outside.waitForTransactionReceipt({ hash: deployed })
assert(contractAddress)
const asset = contractAddress
const pay = (to: string, micros: bigint) =>
  outside.writeContract({
    address: asset,
    abi,
    functionName: 'transfer',
    args: [to as `0x${string}`, micros],
    gas: 200_000n,
  })
const held = (address: string) =>
  outside.readContract({
    address: asset,
    abi,
    functionName: 'balanceOf',
    args: [address as `0x${string}`],
  })

// The sandbox's signer keeps its seed here, so that this chain's keys are known beforehand.
const data_dir = mkdtempSync(join(tmpdir(), 'florin_evm_'))
const seed = join(data_dir, 'sandbox_seed')
writeFileSync(seed, `${PHRASE}\n`)
const wallet = walletFromPhrase(new Secret(readFileSync(seed, 'utf8').trim()))
const hot_wallet = evmAddressFromBytes(hexToBytes(wallet.addressOf('evm', null)))
const service = await startTestService({
  data_dir,
  env: {
    FLORIN_CHAINS: JSON.stringify([
      {
        chain: 'ethereum',
        family: 'evm',
        url: node_url,
        xpub: wallet.xpub('evm'),
        hot_wallet,
        assets: [{ asset: 'USDC', contract: asset }],
        chain_id: 1,
        confirmations: CONFIRMATIONS,
        finality: 'confirmations',
        start_block: 0,
      },
    ]),
  },
})
after(() => rmSync(data_dir, { recursive: true, force: true }))
const { url, tasks } = service
const { db } = service.programme
const { bearer } = await openAccount(url)
const WATCH = ['watch_deposits']

async function awaited() {
  const body = { amount_usd: 25, asset: 'USDC', chain: 'ethereum' }
  const reply = await send(url, 'POST', '/v1/topups', { bearer, body })
  assert.equal(reply.status, 201, reply.text)
  return topupIn(reply)
}

test('a deposit is seen, reorged out, mined again elsewhere, and credited once', async () => {
  const { id, deposit_address: to, payment_uri } = await awaited()
  assert(payment_uri.startsWith(`ethereum:${asset}`) || payment_uri.includes('@1/transfer'))
  const before = await rpc('evm_snapshot')
  await pay(to, 10_000_000n)
  await tasks.run(WATCH)
  assert.equal((await topupOf(url, bearer, id)).status, 'confirming')
  await rpc('evm_revert', [before])
  await mine(1)
  await tasks.run(WATCH)
  const gone = await topupOf(url, bearer, id)
  assert.deepEqual([gone.status, gone.status_reason], ['awaiting', 'reorg'])
  await pay(OUTSIDER, 1n)
  await pay(to, 10_000_000n)
  await pay(to, 15_000_000n)
  await mine(CONFIRMATIONS)
  for (let look = 0; look < 3; look += 1) await tasks.run(WATCH)
  const done = await topupOf(url, bearer, id)
  assert.deepEqual([done.status, done.credited_usd, done.payment_state], ['completed', 25, 'exact'])
  assert.equal(done.txids.length, 2)
  assert.match(done.txid ?? '', /^0x[0-9a-f]{64}$/)
  assert.equal(await held(to), 25_000_000n)
  assert.equal((await balanceOf(url, bearer)).balance_usd, 25)
})

test('a zero value, a failed call and another contract credit nothing', async () => {
  const { id, deposit_address: to } = await awaited()
  const other = await outside.sendTransaction({ data: assetBytecode() as `0x${string}` })
  const { contractAddress: fake } = await outside.waitForTransactionReceipt({ hash: other })
  assert(fake)
  await pay(to, 0n)
  await pay(to, 10n ** 30n).catch(() => undefined)
  const args = [to as `0x${string}`, 9_000_000n] as const
  await outside.writeContract({ address: fake, abi, functionName: 'transfer', args })
  await mine(CONFIRMATIONS)
  await tasks.run(WATCH)
  assert.equal((await topupOf(url, bearer, id)).received_usd, 0)
})

test('a withdrawal leaves by its place in the order and arrives once', async () => {
  await pay(hot_wallet, 100_000_000n)
  await outside.sendTransaction({ to: hot_wallet as `0x${string}`, value: 10n ** 18n })
  const before = await held(OUTSIDER)
  const ask = (address: string) =>
    send(url, 'POST', '/v1/withdrawals', {
      bearer,
      body: { amount_usd: 11, address, asset: 'USDC', chain: 'ethereum' },
    })
  assert.equal((await ask(OUTSIDER.toLowerCase())).body['error'], 'invalid_address')
  const orders = [await ask(OUTSIDER), await ask(OUTSIDER)]
  const account = { url, bearer }
  const areDone = await eventually(
    async () => {
      await tasks.run(['send_withdrawals', 'confirm_withdrawals'])
      await mine(1)
      const all = await Promise.all(
        orders.map(({ body }) => withdrawalOf(account, String(body['id']))),
      )
      return all.every(({ status }) => status === 'completed')
    },
    { within_ms: 40_000 },
  )
  const rows = await db.rows('select status, step, status_reason, attempt, txid from withdrawals')
  assert(areDone, JSON.stringify(rows))
  assert.equal((await held(OUTSIDER)) - before, 20_000_000n)
  assert.equal((await balanceOf(url, bearer)).balance_usd, 3)
  await assertBooksSound(db)
})
