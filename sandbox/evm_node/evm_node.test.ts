import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import {
  createWalletClient,
  http,
  numberToHex,
  parseEther,
  parseSignature,
  publicActions,
  serializeSignature,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { USDC } from '#rails/x402/requirement.ts'
import { startEvmNode } from '#sandbox/evm_node.ts'
import type { EvmChange, EvmSnapshot } from './chain.ts'
import { coin_abi } from './coin.ts'

const owner = privateKeyToAccount(generatePrivateKey())
const other = privateKeyToAccount(generatePrivateKey())
const node = await startEvmNode({ now: Date.now })
after(() => node.stop())
node.fund(owner.address, parseEther('1'))
node.mint(owner.address, 5_000_000n)

const client = createWalletClient({
  account: owner,
  chain: base,
  transport: http(node.url),
  cacheTime: 0,
  pollingInterval: 50,
}).extend(publicActions)
const coin = { address: USDC, abi: coin_abi } as const
const heldBy = (address: `0x${string}`) =>
  client.readContract({ ...coin, functionName: 'balanceOf', args: [address] })

test('a stock client reads the token, sends it and finds the receipt', async () => {
  assert.equal(await client.getChainId(), 8453)
  const reads = ['name', 'version', 'decimals', 'symbol'] as const
  const metadata = await Promise.all(
    reads.map((functionName) => client.readContract({ ...coin, functionName })),
  )
  assert.deepEqual(metadata, ['USD Coin', '2', 6, 'USDC'])
  const before = await client.getBalance({ address: owner.address })
  const args = [other.address, 1_500_000n] as const
  const hash = await client.writeContract({ ...coin, functionName: 'transfer', args })
  const receipt = await client.waitForTransactionReceipt({ hash })
  assert.equal(receipt.status, 'success')
  assert.equal(await heldBy(other.address), 1_500_000n)
  const paid = before - (await client.getBalance({ address: owner.address }))
  assert.equal(paid, receipt.gasUsed * receipt.effectiveGasPrice)
  assert.equal((await client.getTransaction({ hash })).from, owner.address)
  const logs = await client.getContractEvents({
    ...coin,
    eventName: 'Transfer',
    args: { to: other.address },
    fromBlock: 0n,
  })
  assert.deepEqual(
    logs.map(({ args }) => args.value),
    [1_500_000n],
  )
})

const message = (change: object = {}) => ({
  from: owner.address,
  to: other.address,
  value: 1_000_000n,
  validAfter: 0n,
  validBefore: BigInt(Math.floor(Date.now() / 1_000) + 60),
  nonce: generatePrivateKey(),
  ...change,
})

async function permission(change: object = {}) {
  const given = message(change)
  const word = (name: string, type: string) => ({ name, type })
  const signature = await owner.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: USDC },
    types: {
      TransferWithAuthorization: [
        word('from', 'address'),
        word('to', 'address'),
        word('value', 'uint256'),
        word('validAfter', 'uint256'),
        word('validBefore', 'uint256'),
        word('nonce', 'bytes32'),
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: given,
  })
  const { from, to, value, validAfter, validBefore, nonce } = given
  return [from, to, value, validAfter, validBefore, nonce, signature] as const
}

const take = (args: Awaited<ReturnType<typeof permission>>) =>
  client.writeContract({ ...coin, functionName: 'transferWithAuthorization', args })

test('an authorization works once, within its validity, for the signed content', async () => {
  const before = await heldBy(other.address)
  const good = await permission()
  await client.waitForTransactionReceipt({ hash: await take(good) })
  assert.equal((await heldBy(other.address)) - before, 1_000_000n)
  await assert.rejects(take(good), /used or canceled/)
  const past = BigInt(Math.floor(Date.now() / 1_000) - 1)
  await assert.rejects(take(await permission({ validBefore: past })), /expired/)
  await assert.rejects(take(await permission({ validAfter: past + 600n })), /not yet valid/)
  await assert.rejects(take(await permission({ value: 10n ** 12n })), /exceeds balance/)
  const [from, to, , ...rest] = await permission()
  await assert.rejects(take([from, to, 2_000_000n, ...rest]), /invalid signature/)
  assert.equal((await heldBy(other.address)) - before, 1_000_000n)
})

test('a signature with a high s is refused, as by USDC', async () => {
  const before = await heldBy(other.address)
  const [from, to, value, after_s, before_s, nonce, signature] = await permission()
  const { r, s, yParity } = parseSignature(signature)
  const high = serializeSignature({
    r,
    s: numberToHex(secp256k1.Point.Fn.ORDER - BigInt(s), { size: 32 }),
    yParity: 1 - yParity,
  })
  await assert.rejects(take([from, to, value, after_s, before_s, nonce, high]), /'s' value/)
  assert.equal(await heldBy(other.address), before)
  const good = take([from, to, value, after_s, before_s, nonce, signature])
  await client.waitForTransactionReceipt({ hash: await good })
  assert.equal((await heldBy(other.address)) - before, value)
})

test('future nonces wait, known transactions are refused, and fees need ether', async () => {
  const count = await client.getTransactionCount({ address: owner.address })
  const args = [other.address, 1n] as const
  const request = async (nonce: number) =>
    client.signTransaction(
      await client.prepareTransactionRequest({
        to: USDC,
        data: `0xa9059cbb${args[0].slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`,
        nonce,
      }),
    )
  const before = await heldBy(other.address)
  const [second, first] = [await request(count + 1), await request(count)]
  await client.sendRawTransaction({ serializedTransaction: second })
  assert.equal(await heldBy(other.address), before)
  await client.sendRawTransaction({ serializedTransaction: first })
  assert.equal(await heldBy(other.address), before + 2n)
  await assert.rejects(
    client.sendRawTransaction({ serializedTransaction: first }),
    /already known|nonce too low/i,
  )
  const broke = createWalletClient({ account: other, chain: base, transport: http(node.url) })
  const spent = broke.writeContract({
    ...coin,
    functionName: 'transfer',
    args: [owner.address, 1n],
  })
  await assert.rejects(spent, /insufficient funds|exceeds the balance/i)
})

test('a node restarted from its snapshot has the same state', async () => {
  const again = await startEvmNode({ now: Date.now, snapshot: node.snapshot() })
  after(() => again.stop())
  assert.equal(again.balanceOf(other.address), node.balanceOf(other.address))
  const transport = http(again.url)
  const reader = createWalletClient({ chain: base, transport }).extend(publicActions)
  const head = await client.getBlock()
  assert.equal((await reader.getBlock()).hash, head.hash)
  const [hash] = head.transactions
  assert(hash)
  assert.deepEqual(
    await reader.getTransactionReceipt({ hash }),
    await client.getTransactionReceipt({ hash }),
  )
})

test('a save after a transfer writes only that transfer', async () => {
  const saved: { changes: EvmChange[]; snapshot?: EvmSnapshot } = { changes: [] }
  const saving = await startEvmNode({
    now: Date.now,
    persist: (change, snapshot) => {
      if (saved.snapshot === undefined) saved.snapshot = snapshot()
      else saved.changes.push(change)
    },
  })
  after(() => saving.stop())
  saving.fund(owner.address, parseEther('1'))
  saving.mint(owner.address, 5_000_000n)
  saving.save()
  const wallet = createWalletClient({ account: owner, chain: base, transport: http(saving.url) })
  const args = [other.address, 1n] as const
  for (let transfer = 0; transfer < 30; transfer += 1) {
    await wallet.writeContract({ ...coin, functionName: 'transfer', args })
  }
  const sizes = saved.changes.map((change) => JSON.stringify(change).length)
  assert.equal(sizes.length, 30)
  assert(Math.max(...sizes.slice(-5)) < Math.max(...sizes.slice(0, 5)) * 1.2, sizes.join(' '))
  const again = await startEvmNode({ now: Date.now, ...saved })
  after(() => again.stop())
  assert.deepEqual(again.snapshot().blocks, saving.snapshot().blocks)
  assert.equal(again.balanceOf(other.address), 30n)
})
