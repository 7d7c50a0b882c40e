import { type FormEvent, type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { FlorinError } from '#client/client.ts'
import type { Card } from '#contract/cards.ts'
import type { Transaction } from '#contract/transactions.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { sandbox } from '#panel/sandbox.ts'
import { Button } from '#panel/ui/button.tsx'
import { cardLabel } from '#panel/ui/card_face.tsx'
import { Sheet } from '#panel/ui/dialog.tsx'
import { Field, MoneyField, Select } from '#panel/ui/field.tsx'
import { formatUsd, parseUsd } from '#panel/ui/money.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { toast } from '#panel/ui/toast.tsx'

type Props = { open: boolean; onOpenChange(open: boolean): void }

/** Simulated events pass through the real deposit watcher and card host. */
export function SandboxDrawer(props: Props) {
  return (
    <Sheet {...props} title="Simulate activity" description="No real money moves in the sandbox.">
      <div className="divide-y divide-line">
        <Deposit />
        <Purchase />
        <CaptureOrRefund />
        <Clock />
        <SandboxAction title="Emails">
          <p className="text-soft">See the emails that your account gets.</p>
          <Button asChild>
            <Link href="/inbox" onClick={() => props.onOpenChange(false)}>
              Open inbox
            </Link>
          </Button>
        </SandboxAction>
      </div>
    </Sheet>
  )
}

/** Runs a sandbox action and shows its result as a toast, or the error in `note`. */
function useSandboxAction() {
  const [is_busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<FlorinError | null>(null)
  const run = async (action: () => Promise<string>) => {
    setBusy(true)
    setProblem(null)
    try {
      toast(await action())
    } catch (cause) {
      setProblem(cause as FlorinError)
    }
    setBusy(false)
  }
  return { run, is_busy, note: <ProblemNote problem={problem} /> }
}

type ActionFormProps = { onSubmit(): void; children: ReactNode }

/** A form, because only a form refuses an amount that is not valid. */
function ActionForm({ onSubmit, children }: ActionFormProps) {
  const submit = (form: FormEvent) => {
    form.preventDefault()
    onSubmit()
  }
  return (
    <form onSubmit={submit} className="space-y-3">
      {children}
    </form>
  )
}

function SandboxAction({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="space-y-3 py-4 first:pt-0">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  )
}

function Deposit() {
  const open =
    useOperationQuery('list_topups', { status: 'awaiting,confirming', limit: 20 }).data?.data ?? []
  const [selected_id, setSelectedId] = useState('')
  const topup = open.find(({ id }) => id === selected_id) ?? open[0]
  const [amount, setAmount] = useState('')
  const { run, is_busy, note } = useSandboxAction()
  if (topup === undefined) {
    return (
      <SandboxAction title="Deposit">
        <p className="text-soft">Create a top-up first to get a deposit address.</p>
      </SandboxAction>
    )
  }
  const amount_usd = parseUsd(amount) ?? topup.amount_usd
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
    <SandboxAction title="Deposit">
      <ActionForm onSubmit={() => void deposit()}>
        <Select
          label="Top-up"
          value={topup.id}
          onChange={(change) => setSelectedId(change.target.value)}
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
          <Button type="submit" kind="main" busy={is_busy}>
            Send deposit
          </Button>
          <Button busy={is_busy} onClick={() => void confirm()}>
            Mine 19 blocks
          </Button>
        </div>
      </ActionForm>
    </SandboxAction>
  )
}

const merchants: readonly (readonly [mcc: string, name: string])[] = [
  ['5411', 'Corner Grocery'],
  ['5814', 'Blue Door Coffee'],
  ['5734', 'Cloud Compute Inc'],
  ['4111', 'City Transit'],
  ['7995', 'Lucky Casino'],
]

function Purchase() {
  const query = useOperationQuery('list_cards', { status: 'active,frozen', limit: 100 })
  const cards = (query.data?.data ?? []).toSorted(
    (one, other) => Number(one.status !== 'active') - Number(other.status !== 'active'),
  )
  return (
    <SandboxAction title="Card purchase">
      {cards.length === 0 ? (
        <p className="text-soft">Issue a card first.</p>
      ) : (
        <PurchaseForm cards={cards} />
      )}
    </SandboxAction>
  )
}

const purchaseMessage = (transaction: Transaction): string =>
  transaction.type === 'decline'
    ? `Declined: ${transaction.decline_message ?? transaction.decline_code}`
    : `${formatUsd(transaction.amount_usd)} at ${transaction.merchant_name} approved.`

function PurchaseForm({ cards }: { cards: readonly Card[] }) {
  const [selected_id, setSelectedId] = useState('')
  const card_id = (cards.find(({ id }) => id === selected_id) ?? cards[0])?.id ?? ''
  const [mcc, setMcc] = useState('5411')
  const [amount, setAmount] = useState('12.50')
  const [country, setCountry] = useState('US')
  const { run, is_busy, note } = useSandboxAction()
  const authorize = () =>
    run(async () => {
      const merchant_name = merchants.find(([code]) => code === mcc)?.[1] ?? 'Merchant'
      const purchase = { amount: parseUsd(amount) ?? 0, merchant_name, mcc }
      return purchaseMessage(
        await sandbox.authorize(card_id, { ...purchase, merchant_country: country }),
      )
    })
  return (
    <ActionForm onSubmit={() => void authorize()}>
      <Select
        label="Card"
        value={card_id}
        onChange={(change) => setSelectedId(change.target.value)}
        options={cards.map((each) => [
          each.id,
          `${cardLabel(each)}, ${formatUsd(each.balance_usd)}`,
        ])}
      />
      <Select
        label="Merchant"
        value={mcc}
        onChange={(change) => setMcc(change.target.value)}
        options={merchants.map(([code, name]) => [code, `${name} (${code})`])}
      />
      <div className="grid grid-cols-2 gap-3">
        <MoneyField
          label="Amount"
          required
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
      <Button type="submit" kind="main" busy={is_busy}>
        Make purchase
      </Button>
    </ActionForm>
  )
}

/** The merchant's next step after an authorization. */
function CaptureOrRefund() {
  const rows =
    useOperationQuery('list_transactions', { type: 'authorization', limit: 20 }).data?.data ?? []
  const [selected_id, setSelectedId] = useState('')
  const { run, is_busy, note } = useSandboxAction()
  const purchase = rows.find(({ id }) => id === selected_id) ?? rows[0]
  if (purchase === undefined) return null
  const capture = () =>
    run(async () => `${formatUsd((await sandbox.capture(purchase.id)).amount_usd)} captured.`)
  const refund = () =>
    run(async () => `${formatUsd((await sandbox.refund(purchase.id)).amount_usd)} refunded.`)
  return (
    <SandboxAction title="Capture or refund">
      <Select
        label="Purchase"
        value={purchase.id}
        onChange={(change) => setSelectedId(change.target.value)}
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
    </SandboxAction>
  )
}

const clock_steps: readonly (readonly [seconds: string, text: string])[] = [
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '1 week'],
  ['2592000', '30 days'],
]

function Clock() {
  const [seconds, setSeconds] = useState('3600')
  const { run, is_busy, note } = useSandboxAction()
  const advance = () =>
    run(async () => {
      const { now } = await sandbox.advanceClock(Number(seconds))
      return `Clock set to ${new Date(now).toLocaleString('en-US')}.`
    })
  return (
    <SandboxAction title="Advance clock">
      <p className="text-soft">
        Deposit windows, holds, and sessions expire as they would in real time. You can’t go back.
      </p>
      <Select
        label="By"
        value={seconds}
        onChange={(change) => setSeconds(change.target.value)}
        options={clock_steps}
      />
      {note}
      <Button busy={is_busy} onClick={() => void advance()}>
        Advance
      </Button>
    </SandboxAction>
  )
}
