import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { soundBooks } from '#test/support/sound_books.ts'
import { insertEvidence } from './evidence_store.ts'
import { operatorGetEvidence } from './operator_get_evidence.ts'

const room = await openMoneyRoom({}, await soundBooks())
const get = async (id: string, evidence_id: string) =>
  (await room.operate((context) => operatorGetEvidence(context, { id, evidence_id }))).value
const [dispute, other] = await room.db.rows<{ account_id: string; id: string }>(
  'select account_id, id from disputes order by id',
)
assert(dispute !== undefined && other !== undefined)
const created_at = room.clock.now()
const file = {
  id: room.dependencies.newId('evd', created_at),
  kind: 'receipt' as const,
  file_name: 'receipt.pdf',
  content_type: 'application/pdf',
  size_bytes: 12n,
  sha256: 'ab'.repeat(32),
  note: 'The receipt.',
}
const { account_id, id: dispute_id } = dispute
await insertEvidence(room.db, { account_id, dispute_id, ...file, created_at })

test('returns the name, the type and the size of a file of the dispute', async () => {
  const evidence = await get(dispute.id, file.id)
  assert.deepEqual(
    [evidence.id, evidence.file_name, evidence.content_type, evidence.size_bytes],
    [file.id, 'receipt.pdf', 'application/pdf', 12],
  )
})

test('refuses a file of another dispute, an unknown file and an unknown dispute', async () => {
  await assert.rejects(get(other.id, file.id), { code: 'not_found' })
  await assert.rejects(get(dispute.id, 'evd_unknown'), { code: 'not_found' })
  await assert.rejects(get('dsp_unknown', file.id), { code: 'not_found' })
})
