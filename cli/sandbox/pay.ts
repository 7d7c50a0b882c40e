import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UsageError } from '#cli/exit_codes.ts'
import type { Connection } from '#cli/profiles/connection.ts'
import { PAYER_KEY_FILE } from '#sandbox/payments.ts'

type Print = (line: string) => void
type Priced = { name: string; method: string; path: string; price: string }
type Told = { status: number; headers: Headers; body: Record<string, unknown> }

/** A call that costs something, from the question to the receipt, with the sandbox's own wallet. */
export async function payFor(
  { url, bearer = demoKey(dataDir()) }: Connection,
  print: Print = (line) => void process.stdout.write(`${line}\n`),
): Promise<void> {
  const data_dir = dataDir()
  const priced = await choose(url)
  const idempotency_key = randomUUID()
  const ask = (headers: Record<string, string>) =>
    call(url, priced, { ...headers, bearer, idempotency_key })

  print(`1  ${priced.name} costs ${priced.price} USD here. Asking without paying:`)
  const asked = await ask({})
  print(`   ${asked.status} ${asked.body['error'] ?? ''}: ${asked.body['message'] ?? ''}`)
  if (asked.status !== 402) throw new Error('No price was asked, so there is nothing to pay.')
  const { createPaymentPayload, accepted, payer } = await wallet(asked, data_dir)
  print(`2  It wants ${accepted.amount} units of ${accepted.asset}`)
  print(`   on ${accepted.network}, to ${accepted.payTo}`)

  print(`3  ${payer} signs a permission to take them`)
  const payload = await createPaymentPayload()
  const signature = Buffer.from(JSON.stringify(payload)).toString('base64')

  print('4  Asking again with PAYMENT-SIGNATURE:')
  const paid = await ask({ 'payment-signature': signature })
  print(`   ${paid.status} ${JSON.stringify(paid.body).slice(0, 300)}`)
  if (paid.status >= 300) throw new Error('The call was not made.')
  const receipt = fromHeader(paid.headers.get('payment-response'))
  print(`5  PAYMENT-RESPONSE: settled in ${receipt['transaction']}`)

  if (priced.method === 'GET') return
  const again = await ask({})
  const isReplayed = again.headers.get('idempotent-replayed') === 'true'
  print(`6  The same Idempotency-Key again, without paying: ${again.status}`)
  print(`   ${isReplayed ? 'the same answer, for nothing' : 'another answer'}`)
}

const dataDir = () => resolve(process.env['FLORIN_DATA_DIR'] || './data')

function demoKey(data_dir: string): string {
  try {
    const { api_key } = JSON.parse(readFileSync(join(data_dir, 'demo.json'), 'utf8'))
    return String(api_key)
  } catch (cause) {
    const sentence = `There is no demo account in ${data_dir}: set FLORIN_DATA_DIR, or give --key.`
    throw new UsageError(sentence, { cause })
  }
}

/** The price list of the running service, and of that what can be called without more input. */
async function choose(url: string): Promise<Priced> {
  const reply = await fetch(`${url}/openapi.json`)
  const { paths } = (await reply.json()) as { paths: Record<string, Record<string, unknown>> }
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => pricedIn(path, method, operation)),
  )
  const [first] = all
  if (first === undefined) {
    throw new UsageError(
      'Nothing costs anything here. Start the sandbox with a price:\n' +
        `  FLORIN_PAID_OPERATIONS='{"issue_card": "0.50"}' npm start`,
    )
  }
  const simple = all.find(({ name }) => name === 'issue_card') ?? all.find(isSimple)
  if (simple !== undefined) return simple
  throw new UsageError(`${first.name} has a price, but needs more input than this command has.`)
}

function pricedIn(path: string, method: string, operation: unknown): Priced[] {
  const { operationId, 'x-price': price } = operation as Record<string, unknown>
  const name = String(operationId)
  const of_name = (price as Record<string, string> | undefined)?.[name]
  return of_name === undefined ? [] : [{ name, method: method.toUpperCase(), path, price: of_name }]
}

const isSimple = ({ method, path }: Priced) => method === 'GET' && !path.includes('{')

type Sent = { bearer: string; idempotency_key: string; 'payment-signature'?: string }

async function call(url: string, { name, method, path }: Priced, sent: Sent): Promise<Told> {
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

/** The official client's way to sign, with the key of the sandbox's own payer. */
async function wallet({ headers }: Told, data_dir: string) {
  const { x402Client } = await import('@x402/core/client')
  const { ExactEvmScheme } = await import('@x402/evm/exact/client')
  const { privateKeyToAccount } = await import('viem/accounts')
  const key = readFileSync(join(data_dir, PAYER_KEY_FILE), 'utf8').trim() as `0x${string}`
  const payer = privateKeyToAccount(key)
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(payer))
  const required = fromHeader(headers.get('payment-required'))
  const [accepted] = required['accepts'] as Record<string, string>[]
  if (accepted === undefined) throw new Error('The answer does not say how to pay.')
  return {
    payer: payer.address,
    accepted,
    createPaymentPayload: () => client.createPaymentPayload(required as never),
  }
}

function fromHeader(header: string | null): Record<string, unknown> {
  return JSON.parse(Buffer.from(header ?? '', 'base64').toString('utf8')) as Record<string, unknown>
}
