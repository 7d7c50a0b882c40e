import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { Secret } from '#kernel/secret.ts'
import type { NodeFetch } from '#platform/http_client/node_fetch.ts'
import { type TronHttpApi, tronHttpApi } from './http_api.ts'
import { signTransaction } from './transaction.ts'

type Answer = { status?: number; body: unknown }

function answering(response: Answer | Error, asked: string[] = []): TronHttpApi {
  const fetch: NodeFetch = async (url, { body }) => {
    asked.push(`${url} ${body}`)
    if (response instanceof Error) throw response
    const text = typeof response.body === 'string' ? response.body : JSON.stringify(response.body)
    return { status: response.status ?? 200, body: new Blob([text]).stream() }
  }
  return tronHttpApi({ url: 'http://node.test/', fetch, body_bytes_max: 10_000 })
}

const owner = hexToBytes('dd791d6b49e190062d650e6a23c575510d35f2f9')
const signed = signTransaction(
  {
    ref_block_bytes: hexToBytes('28c3'),
    ref_block_hash: hexToBytes('ce6d340282788569'),
    expiration_ms: 1_777_447_227_000,
    timestamp_ms: 1_777_447_168_009,
    fee_limit_sun: 0n,
    contract: { type: 'TransferContract', owner, to: owner, amount_sun: 1n },
  },
  new Secret(new Uint8Array(32).fill(7)),
)

test('broadcast responses map to four outcomes', async () => {
  const outcomeOf = async (response: Answer | Error): Promise<string> => {
    const said = await answering(response).broadcast(signed)
    return 'code' in said ? `${said.outcome} ${said.code}` : said.outcome
  }
  const { txid } = signed
  assert.equal(await outcomeOf({ body: { result: true, txid } }), 'accepted')
  assert.equal(await outcomeOf({ body: { code: 'DUP_TRANSACTION_ERROR', txid } }), 'duplicate')
  for (const code of ['SERVER_BUSY', 'NO_CONNECTION', 'BLOCK_UNSOLIDIFIED']) {
    assert.equal(await outcomeOf({ body: { code, txid } }), `retryable ${code}`)
  }
  for (const code of ['SIGERROR', 'TAPOS_ERROR', 'BANDWITH_ERROR', 'OTHER_ERROR']) {
    assert.equal(await outcomeOf({ body: { code, txid } }), `rejected ${code}`)
  }
  const busy = { Error: 'class x : lack of computing resources' }
  assert.equal(await outcomeOf({ body: busy }), 'retryable THROTTLED')
  assert.equal(await outcomeOf({ status: 429, body: '' }), 'retryable THROTTLED')
  assert.equal(await outcomeOf({ status: 500, body: 'oops' }), 'retryable UNREACHABLE')
  assert.equal(await outcomeOf({ body: '<html>' }), 'retryable BAD_ANSWER')
  assert.equal(
    await outcomeOf({ body: { result: true, txid: 'f'.repeat(64) } }),
    'retryable BAD_ANSWER',
  )
  assert.equal(await outcomeOf(new Error('socket hang up')), 'retryable UNREACHABLE')
})

test('hex-encoded node messages are decoded', async () => {
  const message = Buffer.from('Validate signature error').toString('hex')
  const said = await answering({ body: { code: 'SIGERROR', message } }).broadcast(signed)
  assert.deepEqual(said, {
    outcome: 'rejected',
    code: 'SIGERROR',
    reason: 'Validate signature error',
  })
})

test('failed reads are throttled, refused, unreachable or bad_answer', async () => {
  const failureOf = async (response: Answer | Error): Promise<string> => {
    const error = await answering(response)
      .now('head')
      .then(String, (thrown: unknown) => thrown)
    assert(error instanceof Error && 'failure' in error)
    return String(error.failure)
  }
  assert.equal(await failureOf({ body: { Error: 'lack of computing resources' } }), 'throttled')
  assert.equal(await failureOf({ body: { Error: 'class NullPointerException' } }), 'refused')
  assert.equal(await failureOf({ status: 503, body: '' }), 'throttled')
  assert.equal(await failureOf({ status: 404, body: '' }), 'refused')
  assert.equal(await failureOf(new Error('refused')), 'unreachable')
  assert.equal(
    await failureOf({ body: 'this API is closed because this node is a lite' }),
    'bad_answer',
  )
  assert.equal(await failureOf({ body: { blockID: '00' } }), 'bad_answer')
  assert.equal(await failureOf({ body: `"${'x'.repeat(20_000)}"` }), 'bad_answer')
})

test('an endless response is cut off', async () => {
  let chunks = 0
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    for (;;) {
      chunks += 1
      yield utf8ToBytes(' '.repeat(1_000))
    }
  }
  const fetch: NodeFetch = async () => ({ status: 200, body: endless() })
  const api = tronHttpApi({ url: 'http://node.test', fetch, body_bytes_max: 10_000 })
  await assert.rejects(api.now('head'), { failure: 'bad_answer' })
  assert.equal(chunks, 11)
})

test('a block whose ID does not start with its number is malformed', async () => {
  const header = { raw_data: { number: 5, parentHash: '00'.repeat(32), timestamp: 1 } }
  const body = { blockID: `${'0'.repeat(15)}6${'ab'.repeat(24)}`, block_header: header }
  await assert.rejects(answering({ body }).now('head'), { failure: 'bad_answer' })
})

test("success depends on the receipt's result, not on the return value", async () => {
  const receiptWith = async (extra: object, cost: object) => {
    const body = { id: 'ab'.repeat(32), blockNumber: 1, blockTimeStamp: 2, receipt: cost, ...extra }
    const receipt = await answering({ body }).receipt('ab'.repeat(32), 'solid')
    return receipt?.is_reverted ? 'reverted' : receipt?.ok
  }
  const call = { contract_address: '41'.padEnd(42, 'a'), contractResult: ['0'.repeat(64)] }
  assert.equal(await receiptWith(call, { result: 'SUCCESS' }), true)
  assert.equal(await receiptWith(call, { result: 'REVERT' }), 'reverted')
  assert.equal(await receiptWith({ ...call, result: 'FAILED' }, {}), 'reverted')
  // Neither: an incomplete receipt, and one that contradicts itself.
  assert.equal(await receiptWith(call, {}), false)
  assert.equal(await receiptWith({ ...call, result: 'FAILED' }, { result: 'SUCCESS' }), false)
  assert.equal(await receiptWith({}, { net_usage: 268 }), true)
  assert.equal(await answering({ body: {} }).receipt('ab'.repeat(32), 'head'), null)
})

test('a missing price is an error', async () => {
  const body = { chainParameter: [{ key: 'getTransactionFee', value: 1000 }] }
  await assert.rejects(answering({ body }).fees(), { failure: 'bad_answer' })
})

test('an amount that a double would round is malformed', async () => {
  const body = '{"address":"41","balance":9007199254740993}'
  await assert.rejects(answering({ body }).balance(owner, 'head'), { failure: 'bad_answer' })
})

test('solidified data comes from walletsolidity', async () => {
  const asked: string[] = []
  await answering({ body: {} }, asked).receipt('ab', 'solid')
  await answering({ body: [] }, asked).receiptsOfBlock(7, 'head')
  assert.deepEqual(asked, [
    'http://node.test/walletsolidity/gettransactioninfobyid {"value":"ab"}',
    'http://node.test/wallet/gettransactioninfobyblocknum {"num":7}',
  ])
})
