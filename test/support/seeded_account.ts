import assert from 'node:assert/strict'
import { authorize as authorizeAgent, registerAgent } from './agent.ts'
import { addEvidence, fileDispute, openBuyer } from './disputes.ts'
import { send } from './http.ts'
import { fundTreasury } from './money.ts'
import type { Person } from './people.ts'
import { startReceiver } from './receiver.ts'
import { authorize } from './spending.ts'
import type { TestService } from './start.ts'
import { makeEvent, subscribe } from './webhooks.ts'
import { requested } from './withdrawals.ts'

export type SeededAccount = {
  person: Person
  ids: Record<
    'card' | 'capture' | 'decline' | 'dispute' | 'withdrawal' | 'ticket' | 'webhook',
    string
  >
}

/** An account with at least one object of every kind, so no page is empty. */
export async function seedAccount(service: TestService): Promise<SeededAccount> {
  const { url, runtime } = service
  const buyer = await openBuyer(service)
  const { bearer, card } = buyer
  await fundTreasury(runtime.db, buyer.account_id, 500)
  const decline = await authorize(url, buyer, {
    amount: 900,
    merchant_name: 'Lucky Casino',
    mcc: '7995',
  })
  const receiver = await startReceiver()
  const webhook = await subscribe(url, buyer, { url: receiver.url, description: 'Shop back end' })
  await makeEvent(url, buyer)
  const dispute = await fileDispute(url, buyer)
  const note = { kind: 'note', note: 'The shop does not answer.' }
  await addEvidence(url, bearer, dispute.id, { body: note })
  const withdrawal = await requested({ url, bearer }, 25)
  const ticket = await openTicket(url, bearer, card.id)
  await authorizeAgent(await registerAgent(url), buyer)
  await receiver.waitFor(1)
  return {
    person: buyer,
    ids: {
      card: card.id,
      capture: buyer.capture.id,
      decline: decline.id,
      dispute: dispute.id,
      withdrawal: withdrawal.id,
      ticket,
      webhook: webhook.id,
    },
  }
}

async function openTicket(url: string, bearer: string, card_id: string): Promise<string> {
  const message = 'My card was declined at the railway ticket machine. Why?'
  const body = { subject: 'Declined at a kiosk', message, category: 'card', card_id }
  const reply = await send(url, 'POST', '/v1/tickets', { bearer, body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body['id']
}
