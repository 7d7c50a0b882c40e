import { openTopup, readTopup, settle, transfer, waitFor } from './deposits.ts'
import type { Life } from './life.ts'
import { callOperation, outcomeOf } from './session.ts'

const USD = 1_000_000n
const KINDS = ['exact', 'exact', 'under', 'over', 'tiny', 'twice', 'late', 'reorged'] as const
type Kind = (typeof KINDS)[number]

/** A top-up and its transfers, each step confirmed by the model. */
export async function depositByModel(life: Life, kind?: Kind, amount?: bigint): Promise<void> {
  const { session } = life
  const { random } = session
  const way = kind ?? random.pick(KINDS)
  const asked = amount ?? BigInt(random.between(5, 300)) * USD
  const topup = await open(life, asked)
  if (topup === null) return
  if (way === 'late') await cancel(life, topup)
  if (way === 'reorged' && !(await pay(life, topup, { amount: asked, isLost: true }))) return
  const paid = way === 'under' ? asked / 2n : way === 'over' ? asked + USD : asked
  await pay(life, topup, { amount: way === 'tiny' ? USD / 10n : paid })
  if (way === 'twice' || way === 'tiny') await pay(life, topup, { amount: 2n * USD })
}

type OpenTopup = { name: string; id: string; address: string }

async function open({ model, session, holder }: Life, amount: bigint): Promise<OpenTopup | null> {
  const now = session.now()
  const { topup, error } = await openTopup(session, holder, amount)
  const name = topup?.name ?? 'refused'
  model.setTime(now)
  const seen =
    error === null ? { result: 'ok' as const } : { result: 'refused' as const, code: error }
  model.confirm({ op: 'create_topup', account: holder.name, topup: name, amount }, seen)
  return topup
}

async function cancel({ model, session, holder }: Life, { name, id }: OpenTopup): Promise<void> {
  const now = session.now()
  const answer = await callOperation(session, 'cancel_topup', { id }, holder.key)
  model.setTime(now)
  const command = { op: 'cancel_topup', account: holder.name, topup: name } as const
  model.confirm(command, outcomeOf(answer))
}

/** Pays the top-up; false if the transfer was to be lost but was already final. */
async function pay(
  life: Life,
  topup: OpenTopup,
  { amount, isLost = false }: { amount: bigint; isLost?: boolean },
): Promise<boolean> {
  const { model, session, holder } = life
  const { chain } = session.transport.world
  const txid = await transfer(session, holder, { ...topup, amount })
  const of = { account: holder.name, topup: topup.name, transfer: txid }
  const ok = { result: 'ok' } as const
  model.setTime(session.now())
  model.confirm({ op: 'see_transfer', ...of, amount }, ok)
  if (isLost && (await chain.removeTransfer(txid))) {
    await waitFor(session, `transfer ${txid} did not vanish`, async () => {
      const { txids = [] } = await readTopup(session, holder, topup.id)
      return !txids.includes(txid)
    })
    model.confirm({ op: 'lose_transfer', ...of }, ok)
    return true
  }
  await settle(session, holder, topup.id)
  model.setTime(session.now())
  model.confirm({ op: 'settle_transfer', ...of }, ok)
  return !isLost
}
