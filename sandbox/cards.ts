import { Problem } from '#contract/problem.ts'
import type { Transaction } from '#contract/transactions.ts'
import type { PrintedCard, Surface } from '#domain/context/surface.ts'
import type { OutgoingMessage } from '#iso8583/message.ts'
import { faultIn } from './card_network/faults.ts'
import { authorization, forcedCapture, newReference } from './card_network/merchant.ts'
import { amountElements, type Purchase, purchaseIn } from './card_network/purchase.ts'
import { type Scene, sceneOf, sent, type Wires } from './card_network/scene.ts'
import { cardNetwork } from './card_network.ts'
import { readBody } from './control.ts'
import { sandboxTransactions } from './transactions.ts'

/** What shops do with a card, on demand: real messages to the card host, told as Transactions. */
export const sandboxCards: Surface = (app, world) => {
  const network = cardNetwork(world.card_host_port, world)
  const wires: Wires = { network, faults: new Map() }
  app.addHook('onClose', async () => network.close())
  app.post('/sandbox/v1/cards/:id/authorize', async (request) => {
    const scene = await sceneOf(world, wires, request)
    return sell(scene, purchaseIn(readBody(request)), async (sale) =>
      authorization(network, sale, await challenged(scene, sale.purchase)),
    )
  })
  app.post('/sandbox/v1/cards/:id/force_capture', async (request) => {
    const scene = await sceneOf(world, wires, request)
    return sell(scene, purchaseIn(readBody(request)), async (sale) => forcedCapture(network, sale))
  })
  app.post('/sandbox/v1/network/faults', async (request) => {
    const { account_id } = await world.callerOf(request.headers.authorization)
    const fault = faultIn(readBody(request))
    if (fault === null) wires.faults.delete(account_id)
    else wires.faults.set(account_id, fault)
    return { fault }
  })
  sandboxTransactions(app, world, wires)
}

type Sale = { card: PrintedCard; purchase: Purchase; reference: string }

async function sell(
  scene: Scene,
  purchase: Purchase,
  build: (sale: Sale) => Promise<OutgoingMessage>,
): Promise<Transaction> {
  const { world, account_id, id } = scene
  await scene.read('get_card', { id })
  const card = await world.cardNumberOf(account_id, id)
  const reference = newReference(world.random.below)
  const message = await build({ card, purchase, reference })
  await sent(scene, message)
  return foundBy(scene, reference)
}

const PAGES_MAX = 50

/** The host's answer names no transaction: it is the one with the message's own reference. */
async function foundBy(scene: Scene, reference: string): Promise<Transaction> {
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const input = { id: scene.id, limit: 100, ...(cursor !== undefined && { cursor }) }
    const { data, next_cursor } = (await scene.read('list_card_transactions', input)) as {
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

const ANSWER_PAUSE_MS = 25

/** The shop's side of 3-D Secure: the holder is asked first; the message carries the outcome. */
async function challenged(scene: Scene, purchase: Purchase): Promise<string | null> {
  if (!purchase.three_ds) return null
  const { world, account_id, id: card_id } = scene
  const elements = amountElements(purchase.amount_minor, purchase.currency)
  const challenge_id = await world.openChallenge(account_id, {
    card_id,
    amount_minor: purchase.amount_minor,
    currency: purchase.currency.letters,
    amount_micros: BigInt(elements[6] ?? elements[4] ?? '0') * 10_000n,
    merchant_name: purchase.merchant_name,
    // All shops of the sandbox have one id: only their names tell them apart.
    merchant_id: null,
    mcc: purchase.mcc,
    merchant_country: purchase.merchant_country,
  })
  while ((await world.challengeStatus(account_id, challenge_id)) === 'pending') {
    await world.clock.sleep(ANSWER_PAUSE_MS)
  }
  return challenge_id
}
