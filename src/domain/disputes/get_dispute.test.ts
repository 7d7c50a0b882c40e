import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDay } from '#kernel/timestamp.ts'
import { refusalOf } from '#test/support/calls.ts'
import { addEvidence, fileDispute, getDispute, openBuyer } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { asOwner } from '#test/support/old_purchases.ts'
import { operate } from '#test/support/operator.ts'
import { callSandbox } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service

test("shows the status, the merchant's response and the evidence, oldest first", async () => {
  const buyer = await openBuyer(service, 10)
  const filed = await fileDispute(url, buyer)
  assert.deepEqual(await getDispute(url, buyer.key, filed.id), filed)
  for (const note of ['One.', 'Two.']) {
    await addEvidence(url, buyer.key, filed.id, { body: { kind: 'note', note } })
  }
  const answer = await callSandbox(url, buyer.key, `disputes/${filed.id}/answer`, { text: 'No.' })
  assert.equal(answer.status, 200, answer.text)
  const activity = await send(url, 'GET', '/v1/activity?event=dispute.answered', {
    bearer: buyer.key,
  })
  const due = formatDay(new Date(filed.evidence_due_at))
  assert.match(
    activity.body['data'][0].message,
    new RegExp(`[)]; if you disagree, add evidence by ${due}[.]$`),
  )
  const dispute = await getDispute(url, buyer.key, filed.id)
  assert.equal(dispute.status, 'answered')
  assert.equal(dispute.response?.text, 'No.')
  assert.deepEqual(
    dispute.evidence.map(({ note }) => note),
    ['One.', 'Two.'],
  )
  assert.equal(dispute.version, 4)
})

test("another account's dispute is not found, in the sandbox's API too", async () => {
  const owner = await openBuyer(service, 10)
  const stranger = await openBuyer(service, 10)
  const { id } = await fileDispute(url, owner)
  const read = (which: string) =>
    send(url, 'GET', `/v1/disputes/${which}`, { bearer: stranger.key })
  const foreign = refusalOf(await read(id))
  assert.equal(foreign['status'], 404)
  assert.deepEqual(refusalOf(await read('dsp_01kc3z8e5xf8m9r4t2v6w7y8za')), foreign)
  const played = await callSandbox(url, stranger.key, `disputes/${id}/close`, { outcome: 'lost' })
  assert.equal(played.status, 404)
  assert.equal((await getDispute(url, owner.key, id)).status, 'open')
})

test('a dispute of an archived transaction is shown, to an operator without its merchant', async () => {
  const buyer = await openBuyer(service)
  const { id } = await fileDispute(url, buyer)
  const read = () => operate(url, 'GET', `/disputes/${id}`)
  assert.match((await read()).body['merchant_name'], /\w/)
  const archived = `delete from transactions where id = '${buyer.capture.id}'`
  await asOwner(service.database_url, archived)
  assert.equal((await getDispute(url, buyer.bearer, id)).transaction_id, buyer.capture.id)
  assert.equal((await read()).body['merchant_name'], '')
})
