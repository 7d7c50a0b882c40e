import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import {
  numberToHex,
  parseTransaction,
  serializeTransaction,
  type TransactionSerializableEIP1559,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { INDEXES_PER_CELL } from '#kernel/cell.ts'
import { idMaker } from '#kernel/id.ts'
import { Secret } from '#kernel/secret.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { bytesFromTronAddress, tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import { readRawBytes, signerOf } from '#rails/chain/tron/transaction.ts'
import { readTransferCall } from '#rails/chain/tron/trc20.ts'
import { signerClient } from './client.ts'
import { approvalOf, type SignOutcome, type TransferIntent } from './intent.ts'
import { type IntentStore, openIntentStore } from './intent_store.ts'
import type { SignerPolicy } from './policy.ts'
import { serveSigner } from './server.ts'
import { makeSigner, type Signer } from './signer.ts'
import { walletFromPhrase } from './wallet.ts'

const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const TO = 'TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA'
const EVM_ASSET = `0x${'ab'.repeat(20)}`
const EVM_TO = `0x${'cd'.repeat(20)}`
const APPROVAL_KEY = new Uint8Array(32).fill(7)
const LIFETIME_MS = 10 * 60_000

const wallet = walletFromPhrase(
  new Secret('test test test test test test test test test test test junk'),
)
const HOT = tronAddressFromBytes(hexToBytes(wallet.addressOf('tron', null)))
const folder = mkdtempSync(join(tmpdir(), 'florin_signer_'))
after(() => rmSync(folder, { recursive: true }))

const policy: SignerPolicy = {
  chains: [
    {
      chain: 'tron',
      family: 'tron',
      chain_id: 728_126_428,
      contracts: [bytesToHex(bytesFromTronAddress(USDT) ?? new Uint8Array())],
      fee_max: 50_000_000n,
      fuel_max: 30_000_000n,
      fuel_daily_max: 60_000_000n,
      cells: new Set([3]),
    },
    {
      chain: 'ethereum',
      family: 'evm',
      chain_id: 1,
      contracts: [EVM_ASSET.slice(2)],
      fee_max: 1_000_000n,
      fuel_max: 500n,
      fuel_daily_max: 1_000n,
      cells: new Set([3]),
    },
  ],
  withdrawal_max: 1_000n,
  withdrawals_hourly_max: 2_000n,
  withdrawals_daily_max: 3_000n,
}

let files = 0
let now_ms = 1_800_000_000_000
let path: string
let store: IntentStore
let signer: Signer

function open(): void {
  store = openIntentStore({
    path,
    mark_path: `${path}.mark`,
    key: wallet.recordKey(),
    create: true,
  })
  signer = makeSigner({
    wallet,
    policy,
    store,
    approvalKeys: () => [APPROVAL_KEY],
    now_ms: () => now_ms,
  })
}

beforeEach(() => {
  files += 1
  path = join(folder, `intents_${files}.jsonl`)
  open()
})

function intent(given: Partial<TransferIntent> = {}): TransferIntent {
  const plain = {
    id: 'wd_1',
    attempt: 1,
    purpose: 'withdrawal',
    chain: 'tron',
    contract: USDT,
    deposit_index: null,
    to: TO,
    amount: '500',
    network: {
      family: 'tron',
      reference: { number: 100, id: '0000000000000064'.padEnd(64, 'ab') },
      fee_limit_sun: '20000000',
    },
    ...given,
  } as const satisfies Partial<TransferIntent>
  return { approval: approvalOf(APPROVAL_KEY, plain), ...plain, ...given } as TransferIntent
}

const refusal = (outcome: SignOutcome) => (outcome.ok ? null : outcome.refusal)

function signed(outcome: SignOutcome) {
  assert(outcome.ok, refusal(outcome) ?? '')
  return outcome.transfer
}

test('the signer builds the transfer from the hot wallet by its own clock', () => {
  const { txid, raw, signature, expires_at_ms } = signed(signer.sign(intent()))
  const content = readRawBytes(hexToBytes(raw))
  assert(content?.contract.type === 'TriggerSmartContract')
  const call = readTransferCall(content.contract.data)
  assert.equal(tronAddressFromBytes(call?.to ?? new Uint8Array(20)), TO)
  assert.equal(call?.amount, 500n)
  assert.equal(tronAddressFromBytes(content.contract.owner), HOT)
  assert.equal(
    bytesToHex(signerOf(txid, signature) ?? new Uint8Array()),
    wallet.addressOf('tron', null),
  )
  assert.equal(content.timestamp_ms, now_ms)
  assert.equal(expires_at_ms, now_ms + LIFETIME_MS)
})

test('the same intent gets the same bytes later and after a restart', () => {
  const first = signed(signer.sign(intent()))
  now_ms += 5_000
  const network = { ...intent().network, reference: { number: 101, id: 'cd'.repeat(32) } }
  assert.deepEqual(signed(signer.sign(intent({ network: network as never }))), first)
  store.close()
  appendFileSync(path, '{"id":"wd_2","torn')
  open()
  assert.deepEqual(signed(signer.sign(intent())), first)
  signed(signer.sign(intent({ id: 'wd_3' })))
  store.close()
  open()
  assert.equal([...store.all()].length, 2)
})

test('an intent cannot change its content or get a second live transfer', () => {
  signed(signer.sign(intent()))
  const conflicts = [
    intent({ amount: '501' }),
    intent({ to: 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C' }),
    intent({ attempt: 3 }),
  ]
  for (const one of conflicts) assert.equal(refusal(signer.sign(one)), 'intent_conflict')
  assert.equal(refusal(signer.sign(intent({ attempt: 2 }))), 'attempt_too_early')
  now_ms += LIFETIME_MS
  assert.equal(refusal(signer.sign(intent({ attempt: 2 }))), 'attempt_too_early')
  now_ms += 60_000
  const [first, second] = [intent(), intent({ attempt: 2 })].map((one) => signed(signer.sign(one)))
  assert.notEqual(first?.txid, second?.txid)
})

test('intents outside the policy are refused', () => {
  const cases: [Partial<TransferIntent>, string][] = [
    [{ amount: '1001' }, 'amount_over_limit'],
    [{ amount: '0' }, 'bad_intent'],
    [{ amount: '-5' }, 'bad_intent'],
    [{ contract: TO }, 'contract_not_allowed'],
    [{ contract: null }, 'contract_not_allowed'],
    [{ to: `${TO.slice(0, -1)}B` }, 'bad_address'],
    [{ chain: 'solana' }, 'bad_intent'],
    [{ approval: '00'.repeat(32) }, 'bad_approval'],
    [{ approval: null }, 'bad_approval'],
    [{ deposit_index: 3 }, 'bad_intent'],
    [{ network: { ...intent().network, fee_limit_sun: '50000001' } as never }, 'fee_over_limit'],
  ]
  for (const [given, expected] of cases) {
    assert.equal(refusal(signer.sign(intent(given))), expected, JSON.stringify(given))
  }
  assert.equal([...store.all()].length, 0)
})

test('an approval covers exactly one content', () => {
  const { approval } = intent()
  const stolen = [{ amount: '900' }, { to: HOT }, { id: 'wd_9' }]
  for (const given of stolen) {
    assert.equal(refusal(signer.sign(intent({ ...given, approval }))), 'bad_approval')
  }
})

test("hourly and daily amounts are limited by the signer's clock", () => {
  const pay = (id: string) => refusal(signer.sign(intent({ id, amount: '1000' })))
  assert.deepEqual([pay('a'), pay('b'), pay('c')], [null, null, 'velocity_exceeded'])
  now_ms += 3_600_000
  assert.deepEqual([pay('c'), pay('d')], [null, 'velocity_exceeded'])
  now_ms += 24 * 3_600_000
  assert.equal(pay('d'), null)
})

test('sweeps pay only the hot wallet, and fuel only our deposit addresses', () => {
  const sweep = { purpose: 'sweep', deposit_index: 4, approval: null } as const
  assert.equal(refusal(signer.sign(intent({ ...sweep, to: TO }))), 'bad_address')
  const { raw } = signed(signer.sign(intent({ ...sweep, to: HOT })))
  const owner = readRawBytes(hexToBytes(raw))?.contract.owner ?? new Uint8Array()
  assert.equal(bytesToHex(owner), wallet.addressOf('tron', 4))
  const ours = tronAddressFromBytes(hexToBytes(wallet.addressOf('tron', 4)))
  const fuel = { id: 'f', purpose: 'fuel', deposit_index: 4, contract: null } as const
  assert.equal(refusal(signer.sign(intent({ ...fuel, to: TO, amount: '5' }))), 'bad_address')
  assert.equal(
    refusal(signer.sign(intent({ ...fuel, to: ours, amount: '30000001' }))),
    'amount_over_limit',
  )
  signed(signer.sign(intent({ ...fuel, to: ours, amount: '20000000' })))
})

function onEthereum(nonce: number, given: Partial<TransferIntent> = {}, fee = 10): TransferIntent {
  const network = {
    family: 'evm',
    chain_id: 1,
    nonce,
    gas: '50000',
    max_fee_per_gas: String(fee),
    max_priority_fee_per_gas: '1',
  } as const
  return intent({ chain: 'ethereum', contract: EVM_ASSET, to: EVM_TO, network, ...given })
}

test('a replacement keeps its nonce and stays within the fee limit', () => {
  const first = signed(signer.sign(onEthereum(5)))
  const moved = onEthereum(6, { attempt: 2 })
  assert.equal(refusal(signer.sign(moved)), 'attempt_too_early')
  const dear = onEthereum(5, { attempt: 2 }, 21)
  assert.equal(refusal(signer.sign(dear)), 'fee_over_limit')
  const raised = signed(signer.sign(onEthereum(5, { attempt: 2 }, 20)))
  assert.deepEqual([raised.nonce, first.nonce], [5, 5])
  assert.notEqual(raised.txid, first.txid)
})

test('only a transfer of the same sender uses up a nonce', () => {
  signed(signer.sign(onEthereum(0)))
  const hot = `0x${wallet.addressOf('evm', null)}`
  const sweep = { id: 's', purpose: 'sweep', deposit_index: 4, to: hot, approval: null } as const
  signed(signer.sign(onEthereum(0, sweep)))
  assert.equal(refusal(signer.sign(onEthereum(1, { attempt: 2 }))), 'attempt_too_early')
  signed(signer.sign(onEthereum(0, { id: 'wd_other' })))
  signed(signer.sign(onEthereum(1, { attempt: 2 })))
})

const OWNER = privateKeyToAccount(
  `0x${bytesToHex((wallet.keyOf('evm', null) as Secret<Uint8Array>).open())}`,
)

/** A transaction that somebody signed with the hot wallet's key in another program. */
async function byHand(nonce: number, { chainId = 1, account = OWNER } = {}): Promise<string> {
  const fields = { type: 'eip1559', nonce, chainId, gas: 21_000n, maxFeePerGas: 9n } as const
  return (await account.signTransaction({ ...fields, to: EVM_TO as `0x${string}` })).slice(2)
}

/** The second valid signature of the same content, which every observer can compute. */
function withOtherSignature(raw: string): string {
  const { r, s, yParity, v: _v, ...content } = parseTransaction(`0x${raw}`)
  const other = secp256k1.Point.Fn.ORDER - BigInt(s ?? 0)
  const signature = {
    r: r ?? '0x',
    s: numberToHex(other, { size: 32 }),
    yParity: 1 - (yParity ?? 0),
  }
  return serializeTransaction(content as TransactionSerializableEIP1559, signature).slice(2)
}

const moved = (nonce: number, attempt: number, nonce_taken_by: string) => {
  const { network } = onEthereum(nonce)
  return onEthereum(nonce, { attempt, network: { ...network, nonce_taken_by } as never })
}

test('a nonce that was used by hand is replaced by exactly one other', async () => {
  const lost = signed(signer.sign(onEthereum(5)))
  signed(signer.sign(onEthereum(5, { attempt: 2 }, 12)))
  const taken = await byHand(5)
  assert.equal(refusal(signer.sign(moved(4, 3, taken))), 'attempt_too_early')
  const second = signed(signer.sign(moved(6, 3, taken)))
  assert.deepEqual([lost.nonce, second.nonce], [5, 6])
  assert.deepEqual(signed(signer.sign(moved(9, 3, taken))), second)
  assert.equal(refusal(signer.sign(moved(7, 4, taken))), 'attempt_too_early')
  store.close()
  open()
  assert.equal(refusal(signer.sign(moved(7, 4, taken))), 'attempt_too_early')
  assert.equal(refusal(signer.sign(onEthereum(5, { attempt: 4 }))), 'attempt_too_early')
  signed(signer.sign(moved(7, 4, await byHand(6))))
})

test('only a transaction of the same sender, chain and nonce proves a lost nonce', async () => {
  const [first, raised] = [onEthereum(5), onEthereum(5, { attempt: 2 }, 12)].map((one) =>
    signed(signer.sign(one)),
  )
  const stranger = privateKeyToAccount(`0x${'17'.repeat(32)}`)
  const proofs = [
    await byHand(4),
    await byHand(6),
    await byHand(5, { chainId: 8453 }),
    await byHand(5, { account: stranger }),
    first?.raw ?? '',
    raised?.raw ?? '',
    withOtherSignature(first?.raw ?? ''),
    withOtherSignature(raised?.raw ?? ''),
    'ff',
  ]
  for (const proof of proofs) {
    assert.equal(refusal(signer.sign(moved(6, 3, proof))), 'attempt_too_early', proof)
  }
  assert.equal([...store.all()].length, 2)
})

const ownerOf = ({ raw }: { raw: string }) =>
  bytesToHex(readRawBytes(hexToBytes(raw))?.contract.owner ?? new Uint8Array())

test('each cell pays from a hot wallet of its own', () => {
  const idIn = (cell: number) => idMaker(randomBytes, cell)('wd', now_ms)
  const third = wallet.addressOf('tron', null, 3)
  assert.notEqual(third, wallet.addressOf('tron', null))
  assert.equal(ownerOf(signed(signer.sign(intent({ id: idIn(3) })))), third)
  // A cell without a wallet doesn't exist: the ID is of cell 0.
  const unknown = signed(signer.sign(intent({ id: idIn(4) })))
  assert.equal(ownerOf(unknown), wallet.addressOf('tron', null))
})

test('a sweep and its fuel use the hot wallet of the cell whose deposit address it is', () => {
  const third = wallet.addressOf('tron', null, 3)
  const shown = (address: string) => tronAddressFromBytes(hexToBytes(address))
  for (const [cell, hot] of [
    [0, HOT],
    [3, shown(third)],
    // A cell without a wallet doesn't exist: its indexes are of cell 0.
    [4, HOT],
  ] as const) {
    const deposit_index = cell * INDEXES_PER_CELL + 4
    const sweep = { purpose: 'sweep', deposit_index, approval: null } as const
    const other = cell === 3 ? HOT : shown(third)
    const id = `sweep:tron:${cell}:1`
    assert.equal(refusal(signer.sign(intent({ ...sweep, id, to: other }))), 'bad_address')
    signed(signer.sign(intent({ ...sweep, id, to: hot })))
    const fuel = { id: `fuel:tron:${cell}:1`, purpose: 'fuel', contract: null } as const
    const to = shown(wallet.addressOf('tron', deposit_index))
    const paid = signed(signer.sign(intent({ ...sweep, ...fuel, to, amount: '5' })))
    assert.equal(shown(ownerOf(paid)), hot)
  }
})

test('nonces of two cells are independent', () => {
  const idIn = (cell: number) => idMaker(randomBytes, cell)('wd', now_ms)
  signed(signer.sign(onEthereum(0)))
  signed(signer.sign(onEthereum(0, { id: idIn(3) })))
  assert.equal(refusal(signer.sign(onEthereum(1, { attempt: 2 }))), 'attempt_too_early')
})

test('a hot wallet in a token pays only for the cell that has its key', () => {
  const hot_key = { public_key: new Uint8Array(65), sign: () => new Uint8Array(65) }
  const phrase = new Secret('test test test test test test test test test test test junk')
  const with_token = walletFromPhrase(phrase, new Map([[0, hot_key]]))
  const guarded = makeSigner({
    ...{ wallet: with_token, policy, store, now_ms: () => now_ms },
    approvalKeys: () => [APPROVAL_KEY],
  })
  const id = idMaker(randomBytes, 3)('wd', now_ms)
  assert.equal(refusal(guarded.sign(intent({ id }))), 'bad_intent')
})

test('the socket is open to user and group only, and invalid lines are bad intents', async () => {
  const socket = join(folder, 's.sock')
  const server = await serveSigner(signer, socket)
  try {
    assert.equal(statSync(socket).mode & 0o777, 0o660)
    const client = signerClient(socket, systemClock())
    signed(await client.sign(intent()))
    assert.equal(refusal(await client.sign('nonsense' as never)), 'bad_intent')
    await assert.rejects(serveSigner(signer, socket), /another signer/)
  } finally {
    await server.stop()
  }
  await assert.rejects(signerClient(socket, systemClock()).sign(intent()), /does not respond/)
})
