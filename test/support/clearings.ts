import assert from 'node:assert/strict'
import type { Card } from '#contract/cards.ts'
import { openConnection } from '#sandbox/card_network.ts'
import { purchaseMessage } from './issuer.ts'
import type { TestService } from './start.ts'

type Spender = { account_id: string; card: Card }

/** A clearing of 1,500 yen without an amount in dollars; processing code 200000 is a refund. */
export async function clearInYen(
  { sandbox_host }: Pick<TestService, 'sandbox_host'>,
  { account_id, card }: Spender,
  type = '000000',
): Promise<void> {
  const { pan, exp_year } = await sandbox_host.cardNumberOf(account_id, card.id)
  const plastic = { pan: pan.open(), expiry: `${exp_year % 100}${String(card.exp_month)}` }
  const message = purchaseMessage(plastic, 1_500, { mti: '0220', fields: { 3: type, 49: '392' } })
  const { 14: _, ...fields } = message.fields
  const line = await openConnection(sandbox_host.card_host_port)
  const response = await line.send({ ...message, fields })
  line.end()
  assert.equal(response.fields[39], '00')
}
