import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UsageError } from '#cli/exit_codes.ts'
import type { Connection } from '#cli/profiles/connection.ts'
import { PAYER_KEY_FILE } from '#sandbox/payments.ts'

type Print = (line: string) => void
type PricedOperation = { name: string; method: string; path: string; price: string }
type CallResponse = { status: number; headers: Headers; body: Record<string, unknown> }

/** Calls a priced operation and pays for it with the sandbox's wallet, printing each x402 step. */
export async function payFor(
  { url, bearer = demoKey(dataDir()) }: Connection,
  print: Print = (line) => void process.stdout.write(`${line}\n`),
): Promise<void> {
  const data_dir = dataDir()
  const priced = await pickPricedOperation(url)
  const idempotency_key = randomUUID()
  const send = (headers: Record<string, string>) =>
    call(url, priced, { ...headers, bearer, idempotency_key })

  print(`1  ${priced.name} costs ${priced.price} USD. Calling it without a payment:`)
  const response = await send({})
  print(`   ${response.status} ${response.body['error'] ?? ''}: ${response.body['message'] ?? ''}`)
  if (response.status !== 402) throw new Error('Expected 402 Payment Required.')
  const { createPaymentPayload, accepted, payer } = await createPayment(response, data_dir)
  print(`2  The price is ${accepted.amount} units of ${accepted.asset}`)
  print(`   on ${accepted.network}, payable to ${accepted.payTo}`)

  print(`3  ${payer} signs the payment`)
  const payload = await createPaymentPayload()
  const signature = Buffer.from(JSON.stringify(payload)).toString('base64')

  print('4  Calling again with PAYMENT-SIGNATURE:')
  const paid = await send({ 'payment-signature': signature })
  print(`   ${paid.status} ${JSON.stringify(paid.body).slice(0, 300)}`)
  if (paid.status >= 300) throw new Error('The paid call failed.')
  const receipt = decodeHeader(paid.headers.get('payment-response'))
  print(`5  PAYMENT-RESPONSE: settled in ${receipt['transaction']}`)

  if (priced.method === 'GET') return
  const replay = await send({})
  const isReplayed = replay.headers.get('idempotent-replayed') === 'true'
  print(`6  Retrying with the same Idempotency-Key, without a payment: ${replay.status}`)
  print(`   ${isReplayed ? 'the stored response, free of charge' : 'a different response'}`)
}

const dataDir = () => resolve(process.env['FLORIN_DATA_DIR'] || './data')

function demoKey(data_dir: string): string {
  try {
    const { api_key } = JSON.parse(readFileSync(join(data_dir, 'demo.json'), 'utf8'))
    return String(api_key)
  } catch (cause) {
    const sentence = `There is no demo account in ${data_dir}. Set FLORIN_DATA_DIR, or pass --key.`
    throw new UsageError(sentence, { cause })
  }
}

/** Picks a priced operation from openapi.json that this command has the input for. */
async function pickPricedOperation(url: string): Promise<PricedOperation> {
  const reply = await fetch(`${url}/openapi.json`)
  const { paths } = (await reply.json()) as { paths: Record<string, Record<string, unknown>> }
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      pricedOperations(path, method, operation),
    ),
  )
  const [first] = all
  if (first === undefined) {
    throw new UsageError(
      'No operation has a price. Start the sandbox with one:\n' +
        `  FLORIN_PAID_OPERATIONS='{"issue_card": "0.50"}' npm start`,
    )
  }
  const simple = all.find(({ name }) => name === 'issue_card') ?? all.find(isSimple)
  if (simple !== undefined) return simple
  throw new UsageError(`${first.name} has a price, but this command lacks the input to call it.`)
}

function pricedOperations(path: string, method: string, operation: unknown): PricedOperation[] {
  const { operationId, 'x-price': price } = operation as Record<string, unknown>
  const name = String(operationId)
  const operation_price = (price as Record<string, string> | undefined)?.[name]
  return operation_price === undefined
    ? []
    : [{ name, method: method.toUpperCase(), path, price: operation_price }]
}

const isSimple = ({ method, path }: PricedOperation) => method === 'GET' && !path.includes('{')

type CallHeaders = { bearer: string; idempotency_key: string; 'payment-signature'?: string }

async function call(
  url: string,
  { name, method, path }: PricedOperation,
  sent: CallHeaders,
): Promise<CallResponse> {
  const { bearer, idempotency_key, ...headers } = sent
  const body = name === 'issue_card' ? { body: JSON.stringify({ type: 'virtual' }) } : {}
  const reply = await fetch(`${url}/v1${path}`, {
    method,
    headers: {
      ...headers,
      authorization: `Bearer ${bearer}`,
      'idempotency-key': idempotency_key,
      'content-type': 'application/json',
    },
    ...body,
  })
  const text = await reply.text()
  return { status: reply.status, headers: reply.headers, body: text === '' ? {} : JSON.parse(text) }
}

/** Signs with the official x402 client and the sandbox payer's key. */
async function createPayment({ headers }: CallResponse, data_dir: string) {
  const { x402Client } = await import('@x402/core/client')
  const { ExactEvmScheme } = await import('@x402/evm/exact/client')
  const { privateKeyToAccount } = await import('viem/accounts')
  const key = readFileSync(join(data_dir, PAYER_KEY_FILE), 'utf8').trim() as `0x${string}`
  const payer = privateKeyToAccount(key)
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(payer))
  const required = decodeHeader(headers.get('payment-required'))
  const [accepted] = required['accepts'] as Record<string, string>[]
  if (accepted === undefined) throw new Error('The response lists no payment options.')
  return {
    payer: payer.address,
    accepted,
    createPaymentPayload: () => client.createPaymentPayload(required as never),
  }
}

function decodeHeader(header: string | null): Record<string, unknown> {
  return JSON.parse(Buffer.from(header ?? '', 'base64').toString('utf8')) as Record<string, unknown>
}
