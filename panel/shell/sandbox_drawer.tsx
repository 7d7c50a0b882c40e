import { type ReactNode, useState } from 'react'
import type { FlorinError } from '#client/client.ts'
import { useRead } from '#panel/queries.ts'
import { sandbox } from '#panel/sandbox.ts'
import { Button } from '#panel/ui/button.tsx'
import { cardTitle } from '#panel/ui/card_face.tsx'
import { Sheet } from '#panel/ui/dialog.tsx'
import { Field, MoneyField, Select } from '#panel/ui/field.tsx'
import { formatUsd, usdIn } from '#panel/ui/money.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { toast } from '#panel/ui/toast.tsx'

type Props = { open: boolean; onOpenChange(open: boolean): void }

/** What the world would do by itself, on demand: it goes through the real chain and card host. */
export function SandboxDrawer(props: Props) {
  return (
    <Sheet {...props} title="Simulate activity" description="No real money moves in the sandbox.">
      <div className="divide-y divide-line">
        <Deposit />
        <Purchase />
        <Afterwards />
        <Clock />
      </div>
    </Sheet>
  )
}

/** One thing to do: runs it, says what came of it, or why it was refused. */
function useDeed() {
  const [is_busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<FlorinError | null>(null)
  const run = async (deed: () => Promise<string>) => {
    setBusy(true)
    setProblem(null)
    try {
      toast(await deed())
    } catch (cause) {
      setProblem(cause as FlorinError)
    }
    setBusy(false)
  }
  return { run, is_busy, note: <ProblemNote problem={problem} /> }
}

function Deed({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="space-y-3 py-4 first:pt-0">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  )
}

function Deposit() {
  const open = useRead('list_topups', { status: 'awaiting,confirming', limit: 20 }).data?.data ?? []
  const [chosen, setChosen] = useState('')
  const topup = open.find(({ id }) => id === chosen) ?? open[0]
  const [amount, setAmount] = useState('')
  const { run, is_busy, note } = useDeed()
  if (topup === undefined) {
    return (
      <Deed title="Deposit">
        <p className="text-soft">Create a top-up first to get a deposit address.</p>
      </Deed>
    )
  }
  const amount_usd = usdIn(amount) ?? topup.amount_usd
  const deposit = () =>
    run(async () => {
      await sandbox.deposit(topup.id, amount_usd)
      return `${formatUsd(amount_usd)} deposit sent.`
    })
  const confirm = () =>
    run(async () => {
      const { status } = await sandbox.confirm(topup.id)
      return `19 blocks mined. Top-up ${status}.`
    })
  return (
    <Deed title="Deposit">
      <Select
        label="Top-up"
        value={topup.id}
        onChange={(change) => setChosen(change.target.value)}
        options={open.map((each) => [each.id, `${formatUsd(each.amount_usd)}, ${each.status}`])}
      />
      <MoneyField
        label="Amount to send"
        placeholder={String(topup.amount_usd)}
        value={amount}
        onChange={(change) => setAmount(change.target.value)}
      />
      {note}
      <div className="flex gap-2">
        <Button kind="main" busy={is_busy} onClick={() => void deposit()}>
          Send deposit
        </Button>
        <Button busy={is_busy} onClick={() => void confirm()}>
          Mine 19 blocks
        </Button>
      </div>
    </Deed>
  )
}

const shops: readonly (readonly [mcc: string, name: string])[] = [
  ['5411', 'Corner Grocery'],
  ['5814', 'Blue Door Coffee'],
  ['5734', 'Cloud Compute Inc'],
  ['4111', 'City Transit'],
  ['7995', 'Lucky Casino'],
]

function Purchase() {
  const cards = useRead('list_cards', { status: 'active,frozen', limit: 100 }).data?.data ?? []
  const [chosen, setChosen] = useState('')
  const [mcc, setMcc] = useState('5411')
  const [amount, setAmount] = useState('12.50')
  const [country, setCountry] = useState('US')
  const { run, is_busy, note } = useDeed()
  const card = cards.find(({ id }) => id === chosen) ?? cards[0]
  const merchant_name = shops.find(([code]) => code === mcc)?.[1] ?? 'Merchant'
  if (card === undefined) {
    return (
      <Deed title="Card purchase">
        <p className="text-soft">Issue a card first.</p>
      </Deed>
    )
  }
  const charge = () =>
    run(async () => {
      const purchase = { amount: usdIn(amount) ?? 0, merchant_name, mcc, merchant_country: country }
      const made = await sandbox.authorize(card.id, purchase)
      if (made.type === 'decline') return `Declined: ${made.decline_message ?? made.decline_code}`
      return `${formatUsd(made.amount_usd)} at ${merchant_name} approved.`
    })
  return (
    <Deed title="Card purchase">
      <Select
        label="Card"
        value={card.id}
        onChange={(change) => setChosen(change.target.value)}
        options={cards.map((each) => [
          each.id,
          `${cardTitle(each)}, ${formatUsd(each.balance_usd)}`,
        ])}
      />
      <Select
        label="Merchant"
        value={mcc}
        onChange={(change) => setMcc(change.target.value)}
        options={shops.map(([code, name]) => [code, `${name} (${code})`])}
      />
      <div className="grid grid-cols-2 gap-3">
        <MoneyField
          label="Amount"
          value={amount}
          onChange={(change) => setAmount(change.target.value)}
        />
        <Field
          label="Country"
          maxLength={2}
          value={country}
          onChange={(change) => setCountry(change.target.value.toUpperCase())}
        />
      </div>
      {note}
      <Button kind="main" busy={is_busy} onClick={() => void charge()}>
        Make purchase
      </Button>
    </Deed>
  )
}

/** What a shop does later with a purchase it was paid for. */
function Afterwards() {
  const rows = useRead('list_transactions', { type: 'authorization', limit: 20 }).data?.data ?? []
  const [chosen, setChosen] = useState('')
  const { run, is_busy, note } = useDeed()
  const purchase = rows.find(({ id }) => id === chosen) ?? rows[0]
  if (purchase === undefined) return null
  const capture = () =>
    run(async () => `${formatUsd((await sandbox.capture(purchase.id)).amount_usd)} captured.`)
  const refund = () =>
    run(async () => `${formatUsd((await sandbox.refund(purchase.id)).amount_usd)} refunded.`)
  return (
    <Deed title="Capture or refund">
      <Select
        label="Purchase"
        value={purchase.id}
        onChange={(change) => setChosen(change.target.value)}
        options={rows.map((row) => [
          row.id,
          `${row.merchant_name}, ${formatUsd(row.amount_usd)}, ${row.status.replace('_', ' ')}`,
        ])}
      />
      {note}
      <div className="flex gap-2">
        <Button busy={is_busy} onClick={() => void capture()}>
          Capture
        </Button>
        <Button busy={is_busy} onClick={() => void refund()}>
          Refund
        </Button>
      </div>
    </Deed>
  )
}

const spans: readonly (readonly [seconds: string, text: string])[] = [
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '1 week'],
  ['2592000', '30 days'],
]

function Clock() {
  const [seconds, setSeconds] = useState('3600')
  const { run, is_busy, note } = useDeed()
  const advance = () =>
    run(async () => {
      const { now } = await sandbox.advanceClock(Number(seconds))
      return `Clock set to ${new Date(now).toLocaleString('en-US')}.`
    })
  return (
    <Deed title="Advance clock">
      <p className="text-soft">
        Deposit windows, holds, and sessions expire as they would in real time. You can’t go back.
      </p>
      <Select
        label="By"
        value={seconds}
        onChange={(change) => setSeconds(change.target.value)}
        options={spans}
      />
      {note}
      <Button busy={is_busy} onClick={() => void advance()}>
        Advance
      </Button>
    </Deed>
  )
}
