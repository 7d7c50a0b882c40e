import {
  newReference,
  unconvertedCapture,
  unreferencedRefund,
} from '#sandbox/card_network/merchant.ts'
import { parsePurchase } from '#sandbox/card_network/purchase.ts'
import { cardNetwork } from '#sandbox/card_network.ts'
import { call, type DemoSandbox } from './demo_sandbox.ts'
import type { Person } from './person.ts'

const hotel = {
  amount: 18_400,
  currency: 'JPY',
  merchant_name: 'Hotel Asahi Kyoto',
  mcc: '7011',
  merchant_country: 'JP',
  entry_mode: 'chip',
}
const tickets = { amount: 64.5, merchant_name: 'Harvest Fair Tickets', mcc: '7922' }

/**
 * Two clearings that wait for an operator: one in yen without a rate, and a refund without a
 * purchase. The sandbox's calls return transactions, and these are none yet, so the demo sends the
 * messages itself.
 */
export async function sendPendingClearings(
  sandbox: DemoSandbox,
  { bearer, cards: [card] }: Person,
): Promise<void> {
  if (card === undefined) return
  const { host } = sandbox
  const account = await call(sandbox, 'get_account', {}, bearer)
  const printed = await host.cardNumberOf(String(account['id']), card.id)
  const network = cardNetwork(host.card_host_port, host)
  const clearings = [
    [unconvertedCapture, hotel],
    [unreferencedRefund, tickets],
  ] as const
  try {
    for (const [message, purchase] of clearings) {
      const reference = newReference(host.random.below)
      const sale = { card: printed, purchase: parsePurchase(purchase), reference }
      const { fields } = await network.send(message(network, sale))
      if (fields[39] !== '00') throw new Error(`the clearing was refused with ${fields[39]}`)
    }
  } finally {
    network.close()
  }
}
