import { Problem } from '#contract/problem.ts'
import type { Transaction } from '#contract/transactions.ts'
import type { PrintedCard, Surface } from '#domain/context/surface.ts'
import type { OutgoingMessage } from '#iso8583/message.ts'
import { parseFault } from './card_network/faults.ts'
import { authorization, forcedCapture, newReference } from './card_network/merchant.ts'
import {
  amountElements,
  merchantId,
  type Purchase,
  parsePurchase,
} from './card_network/purchase.ts'
import {
  openCall,
  type SandboxCall,
  type SharedNetwork,
  sendToHost,
} from './card_network/sandbox_call.ts'
import { cardNetwork } from './card_network.ts'
import { readBody } from './control.ts'
import { sandboxTransactions } from './transactions.ts'

/** Simulated purchases: sends real messages to the card host and returns Transactions. */
export const sandboxCards: Surface = (app, host) => {
  const network = cardNetwork(host.card_host_port, host)
  const shared: SharedNetwork = { network, faults: new Map() }
  app.addHook('onClose', async () => network.close())
  app.post('/sandbox/v1/cards/:id/authorize', async (request) => {
    const call = await openCall(host, shared, request)
    return sendPurchase(call, parsePurchase(readBody(request)), async (sale) =>
      authorization(network, sale, await runChallenge(call, sale.purchase)),
    )
  })
  app.post('/sandbox/v1/cards/:id/force_capture', async (request) => {
    const call = await openCall(host, shared, request)
    return sendPurchase(call, parsePurchase(readBody(request)), async (sale) =>
      forcedCapture(network, sale),
    )
  })
  app.post('/sandbox/v1/network/faults', async (request) => {
    const { account_id } = await host.callerOf(request.headers.authorization)
    const fault = parseFault(readBody(request))
    if (fault === null) shared.faults.delete(account_id)
    else shared.faults.set(account_id, fault)
    return { fault }
  })
  sandboxTransactions(app, host, shared)
}

type Sale = { card: PrintedCard; purchase: Purchase; reference: string }

async function sendPurchase(
  call: SandboxCall,
  purchase: Purchase,
  build: (sale: Sale) => Promise<OutgoingMessage>,
): Promise<Transaction> {
  const { host, account_id, id } = call
  await call.read('get_card', { id })
  const card = await host.cardNumberOf(account_id, id)
  const reference = newReference(host.random.below)
  const message = await build({ card, purchase, reference })
  await sendToHost(call, message)
  return findByReference(call, reference)
}

const PAGES_MAX = 50

/** The host's response has no transaction ID, so the transaction is found by its reference. */
async function findByReference(call: SandboxCall, reference: string): Promise<Transaction> {
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const input = { id: call.id, limit: 100, ...(cursor !== undefined && { cursor }) }
    const { data, next_cursor } = (await call.read('list_card_transactions', input)) as {
      data: Transaction[]
      next_cursor: string | null
    }
    const found = data.find((row) => row.retrieval_reference_number === reference)
    if (found !== undefined) return found
    if (next_cursor === null) break
    cursor = next_cursor
  }
  throw new Problem('upstream_error', 'The card host took the message and recorded nothing.')
}

const POLL_MS = 25

/** The merchant's side of 3-D Secure: waits for the cardholder's decision first. */
async function runChallenge(call: SandboxCall, purchase: Purchase): Promise<string | null> {
  if (!purchase.three_ds) return null
  const { host, account_id, id: card_id } = call
  const elements = amountElements(purchase.amount_minor, purchase.currency)
  const challenge_id = await host.openChallenge(account_id, {
    card_id,
    amount_minor: purchase.amount_minor,
    currency: purchase.currency.letters,
    amount_micros: BigInt(elements[6] ?? elements[4] ?? '0') * 10_000n,
    merchant_name: purchase.merchant_name,
    merchant_id: merchantId(purchase),
    mcc: purchase.mcc,
    merchant_country: purchase.merchant_country,
  })
  while ((await host.challengeStatus(account_id, challenge_id)) === 'pending') {
    await host.clock.sleep(POLL_MS)
  }
  return challenge_id
}
