import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Topup } from '#contract/topups.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { depositAddresses } from '#rails/chain/derive.ts'
import { ArchivedPostgres } from '#test/support/archived_postgres.ts'
import { advance } from '#test/support/calls.ts'
import { callCard, issueCard } from '#test/support/cards.ts'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { eventually } from '#test/support/eventually.ts'
import { florin, temporaryFolder } from '#test/support/florin_process.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { setKillSwitch } from '#test/support/operator.ts'
import { openAccount, type Person } from '#test/support/people.ts'
import { type Receiver, startReceiver } from '#test/support/receiver.ts'
import { startTestService, type TestService } from '#test/support/start.ts'
import { skipWithout } from '#test/support/tools.ts'
import { awaitedTopup, balanceOf, fund, onChain, topupOf } from '#test/support/topups.ts'
import { subscribe } from '#test/support/webhooks.ts'
import { requestedTo, withdrawalOf } from '#test/support/withdrawals.ts'

const skip = skipWithout('pgbackrest') || skipWithout('postgres')

const CHAIN_TASKS = ['watch_deposits', 'send_withdrawals', 'confirm_withdrawals']

/** Tasks run only when the test says so: the restored time lies between two of them. */
const quietClock = () => ({ ...systemClock(), every: () => () => undefined })

type Programme = { service: TestService; person: Person; receiver: Receiver }

/** Mines and runs the tasks of the chain until this is true. */
async function settle({ service }: Programme, isDone: () => Promise<boolean>): Promise<void> {
  const step = async () => {
    service.sandbox.node.mine(60)
    await service.tasks.run(CHAIN_TASKS)
    return isDone()
  }
  assert(await eventually(step, { within_ms: 30_000 }), 'the chain was settled')
}

const walletAt = ({ sandbox }: TestService, index: number) =>
  depositAddresses('tron', sandbox.settings.chains[0]?.xpub ?? '').at(1_000_000_000 + index).address

type Account = { url: string; bearer: string }

const isWithdrawn = (account: Account, id: string) => async () =>
  (await withdrawalOf(account, id)).status === 'completed'

const isCredited = (account: Account, id: string) => async () =>
  (await topupOf(account.url, account.bearer, id)).status === 'completed'

/** Delivered before the restored time, or held back by the receiver until after it. */
async function makeDeliveries({ service, person, receiver }: Programme) {
  const freezeCard = async () => {
    const { id } = await issueCard(service.url, person.bearer)
    const reply = await callCard(service.url, { id, verb: 'freeze' }, { bearer: person.bearer })
    assert.equal(reply.status, 200, reply.text)
    await service.tasks.run(['fan_out_events'])
  }
  await freezeCard()
  const [before] = await receiver.waitFor(1)
  let letGo = () => {}
  receiver.respond = (response) => {
    letGo = () => response.end('ok')
  }
  await freezeCard()
  const [, held] = await receiver.waitFor(2)
  return { before: before?.event.id ?? '', held: held?.event.id ?? '', letGo: () => letGo() }
}

async function assertDeliveredOnce(service: TestService, event_id: string): Promise<void> {
  const isDone = async () =>
    (await service.owner_db.rows('select 1 from deliveries where event_id = $1', [event_id]))
      .length === 0
  assert(await eventually(isDone, { within_ms: 20_000 }), 'the delivery was recorded')
}

test('after a point-in-time restore the books are sound and nothing is paid twice', {
  skip,
}, async (t) => {
  const [folder, data] = [await temporaryFolder(), await temporaryFolder()]
  const postgres = await ArchivedPostgres.start(folder.path)
  const options = { database_url: postgres.url, data_dir: data.path }
  const open = () => startTestService({ ...options, dependencies: { clock: quietClock() } })
  const service = await open()
  // Hooks run in this order, and the sandbox writes to its folder until it is stopped.
  after(async () => {
    await postgres.kill()
    await folder.remove()
    await data.remove()
  })
  const { url } = service
  const person = await openAccount(url)
  const account = { url, bearer: person.bearer }
  const receiver = await startReceiver()
  const programme = { service, person, receiver }
  await fund(url, person.bearer, 500)
  await postgres.backrest('--type=full', 'backup')

  // Before that time one withdrawal is paid, one is only requested, and a deposit is awaited.
  await subscribe(url, person, { url: receiver.url, events: ['card.frozen'] })
  const paid = await requestedTo(account, walletAt(service, 1), 20)
  await settle(programme, isWithdrawn(account, paid.id))
  const requested = await requestedTo(account, walletAt(service, 2), 30)
  const awaited = await awaitedTopup(url, person.bearer, 40)
  const deliveries = await makeDeliveries(programme)
  const [target_time] = await postgres.query('select clock_timestamp()::text as at')

  // After it: the withdrawal is paid, the deposit is credited, an address is given out.
  deliveries.letGo()
  await assertDeliveredOnce(service, deliveries.held)
  await onChain({ ...account, id: awaited.id }, 'deposit', { amount_usd: 40 })
  await settle(programme, isWithdrawn(account, requested.id))
  await settle(programme, isCredited(account, awaited.id))
  const { txid } = await withdrawalOf(account, requested.id)
  await postgres.query(`select nextval('deposit_address_index') from generate_series(1, 40)`)
  const lost: Topup = await awaitedTopup(url, person.bearer, 50)
  await service.stop()
  await postgres.archiveAll()
  await postgres.kill()

  const began = performance.now()
  const target = `--target=${String(target_time?.['at'])}`
  await postgres.backrest('--delta', '--type=time', target, '--target-action=promote', 'restore')
  await postgres.run()
  t.diagnostic(`restored in ${((performance.now() - began) / 1_000).toFixed(1)} s`)

  const env = { FLORIN_DATABASE_URL: postgres.url, FLORIN_DATA_DIR: data.path }
  const prepared = await florin(['after-restore', '--yes'], env)
  assert.equal(prepared.code, 0, prepared.output)
  assert.match(prepared.stdout, /^Deposits on tron are read again from block \d+\.$/m)
  receiver.respond = (response) => response.end('ok')
  const restored = await open()
  const again = { url: restored.url, bearer: person.bearer }
  assert.equal((await withdrawalOf(again, requested.id)).status, 'pending')

  // The kill switch holds withdrawals back until an operator turns it off; deposits are credited.
  await advance(restored.url, person.bearer, 300)
  await settle({ ...programme, service: restored }, isCredited(again, awaited.id))
  assert.equal((await withdrawalOf(again, requested.id)).status, 'pending')
  await setKillSwitch(restored.url, 'withdrawals', false)
  await settle({ ...programme, service: restored }, isWithdrawn(again, requested.id))
  const final = await withdrawalOf(again, requested.id)
  assert.equal(final.txid, txid, 'the signer gave the same transfer again')
  const { node } = restored.sandbox
  assert.equal(node.balanceOf(walletAt(service, 1)), 19_000_000n)
  assert.equal(node.balanceOf(walletAt(service, 2)), 29_000_000n)
  assert.equal((await withdrawalOf(again, paid.id)).status, 'completed')
  assert.equal((await balanceOf(restored.url, person.bearer)).balance_usd, 500 - 20 - 30 + 40)

  const { deposit_address } = await awaitedTopup(restored.url, person.bearer, 60)
  assert.notEqual(deposit_address, lost.deposit_address, 'no address is given out twice')
  await assertDeliveredOnce(restored, deliveries.held)
  const ids = receiver.received.map(({ event }) => event.id)
  const countOf = (id: string) => ids.filter((each) => each === id).length
  assert.equal(countOf(deliveries.before), 1, 'a recorded delivery is not repeated')
  assert.equal(countOf(deliveries.held), 2, 'a delivery that was not recorded is repeated once')
  const bodies = receiver.received.filter(({ event }) => event.id === deliveries.held)
  assert.equal(new Set(bodies.map(({ body }) => body)).size, 1, 'with the same bytes')
  await assertBooksSound(restored.owner_db)
  await assertEventsAreWhole(restored.owner_db)
  await restored.stop()
})
