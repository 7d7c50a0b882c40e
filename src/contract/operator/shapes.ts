import Type, { type TObject, type TProperties } from 'typebox'
import { Account } from '#contract/accounts.ts'
import { Id, Nullable, StringEnum, Timestamp, Usd, UsdInput } from '#contract/shapes.ts'
import { SystemLimits } from '#contract/system.ts'
import { operator_roles } from './roles.ts'

const account_email = Type.String({ description: 'Email of the account.' })

/** A customer's object with the account it belongs to. */
export const owned = <Properties extends TProperties>(shape: TObject<Properties>) =>
  Type.Object({
    account_id: Id('acct', 'ID of the account.'),
    account_email,
    ...shape.properties,
  })

/** An object that has an account ID, as lists show it. */
export const listed = <Properties extends TProperties>(shape: TObject<Properties>) =>
  Type.Object({ ...shape.properties, account_email })

export const AccountFilter = Type.Optional(Id('acct', 'ID of the account to include.'))

const { withdrawal_used_today_usd: _used, ...limits } =
  SystemLimits.properties.spend_limits.properties
type LimitName = keyof typeof limits

const descriptionOf = (schema: { description?: string }) => schema.description ?? ''

const limitsWith = <Each extends Type.TSchema>(each: (name: string, description: string) => Each) =>
  Object.fromEntries(
    Object.entries<Type.TSchema>(limits).map(([name, schema]) => [
      name,
      each(name, descriptionOf(schema)),
    ]),
  ) as Record<LimitName, Each>

const Limits = Type.Object(limitsWith((_name, description) => Type.Number({ description })))
const OwnLimits = Type.Object(
  limitsWith((_name, description) => Type.Optional(Type.Number({ description }))),
)

/** A number sets the limit for the account; null returns it to the program's default. */
export const limitChanges = limitsWith((name, description) =>
  Type.Optional(Nullable(limitInput(name, `${description} Null: the program's default.`))),
)

function limitInput(name: string, description: string) {
  return name.endsWith('_usd') ? UsdInput(description) : Type.Integer({ minimum: 0, description })
}

export const RateProfile = Nullable(
  StringEnum(['default', 'conservative'], {
    description: "Rate limits of the account. Null: the program's default.",
  }),
)

export const AdministeredAccount = Type.Object(
  {
    ...Account.properties,
    rate_profile: RateProfile,
    own_limits: OwnLimits,
    spend_limits: Limits,
  },
  { description: 'An account with its own limits and the limits in effect.' },
)

export const kill_switch_rails = ['topups', 'withdrawals', 'issuing', 'authorizations'] as const

export const KillSwitch = Type.Object(
  {
    rail: StringEnum(kill_switch_rails, { description: 'The rail it stops.' }),
    on: Type.Boolean({ description: 'True if the rail is stopped.' }),
    reason: Nullable(Type.String({ description: 'Reason for the last change.' })),
    changed_at: Nullable(Timestamp('Time of the last change.')),
  },
  { description: 'A kill switch. While it is on, nothing new starts on its rail.' },
)

export const HeldDeposit = Type.Object(
  {
    id: Id('bal', 'ID of the movement into suspense.'),
    account_id: Id('acct', 'ID of the account.'),
    topup_id: Id('tup', 'ID of the top-up it arrived for.'),
    chain: Type.String({ description: 'Blockchain.' }),
    txid: Type.String({ description: 'Transaction ID on the chain.' }),
    from_address: Type.String({ description: "Sender's address." }),
    amount_usd: Usd('Amount.'),
    reason: Type.String({ description: 'below_minimum, screening or kill_switch.' }),
    created_at: Timestamp('Time it was held.'),
  },
  { description: 'A deposit in suspense.' },
)

export const PendingConversion = Type.Object(
  {
    id: Id('txn', 'ID of the clearing. The transaction it becomes has its own ID.'),
    account_id: Id('acct', 'ID of the account.'),
    card_id: Id('card', 'ID of the card.'),
    kind: StringEnum(['advise', 'capture', 'refund'], { description: 'Type of the message.' }),
    amount: Type.Number({ description: "Amount in the merchant's currency." }),
    currency: Type.String({ description: "The merchant's currency. ??? if unknown." }),
    merchant_name: Type.String({
      description: 'Merchant of the message, or else of its purchase. Empty: unknown.',
    }),
    amount_usd: Nullable(Usd('USD amount that an operator entered.')),
    created_at: Timestamp('Time it arrived.'),
  },
  { description: 'A foreign-currency clearing awaiting conversion to USD.' },
)

export const HeldRefund = Type.Object(
  {
    id: Id('txn', 'ID of the refund. The transaction it becomes has its own ID.'),
    account_id: Id('acct', 'ID of the account that would be credited.'),
    card_id: Id('card', 'ID of the card.'),
    status: StringEnum(['waiting', 'approved', 'refused'], { description: 'Decision.' }),
    amount: Type.Number({ description: "Amount in the merchant's currency." }),
    currency: Type.String({ description: "The merchant's currency." }),
    amount_usd: Usd('Amount that would be credited.'),
    merchant_name: Type.String({
      description: 'Merchant of the message, or else of its purchase. Empty: unknown.',
    }),
    created_at: Timestamp('Time it arrived.'),
  },
  { description: 'A refund above the amount of its purchase, held for approval.' },
)

const CustodyDifference = Type.Object({
  chain: Type.String({ description: 'Blockchain.' }),
  asset: Type.String({ description: 'Asset.' }),
  ledger_usd: Usd('Custody according to the books.'),
  in_flight_usd: Usd('Signed but not final: may have left custody already.'),
  float_usd: Usd("The operator's own coins in the hot wallet, as configured."),
  on_chain_usd: Nullable(Usd('Confirmed balance on the chain.')),
  difference_usd: Nullable(Usd('On-chain balance minus the float minus the books.')),
  is_short: Type.Boolean({ description: 'True if coins are missing, including the float.' }),
  fault: Nullable(Type.String({ description: 'Why the chain could not be queried.' })),
})

const NetworkDifference = Type.Object({
  network: Type.String({ description: 'Card network.' }),
  ledger_usd: Usd('Settled according to the books.'),
  transactions_usd: Usd('Captures minus refunds.'),
  difference_usd: Usd('The books minus the transactions.'),
})

const PaidCallsDifference = Type.Object({
  network: Type.String({ description: 'Payment network.' }),
  asset: Type.String({ description: 'Asset.' }),
  ledger_usd: Usd('Received and not sent back.'),
  owed_usd: Usd('Received for calls that were not made, and not yet returned.'),
  credited_usd: Usd('Returned to account balances: these coins belong in custody.'),
  relayer_fees_usd: Usd('Network fees of our transfers.'),
  in_flight_usd: Usd('Sent and not confirmed.'),
  on_chain_usd: Nullable(Usd('Balance of the receiving address.')),
  difference_usd: Nullable(Usd('On-chain balance minus the books.')),
  fault: Nullable(Type.String({ description: 'Why the chain could not be queried.' })),
})

export const Reconciliation = Type.Object(
  {
    checked_at: Timestamp('Time of the check.'),
    proven_at: Nullable(Timestamp('Time of the last run of the proofs, which is hourly.')),
    violations: Type.Array(
      Type.Object({
        proof: Type.String({ description: 'Sentence that should be true of the books.' }),
        account_id: Nullable(Id('acct', 'ID of the account concerned.')),
        object_id: Type.String({ description: 'ID of the object for which it is not true.' }),
        sentence: Type.String({ description: 'What is wrong with it.' }),
        first_seen_at: Timestamp('Time of the first run that found it.'),
        last_seen_at: Timestamp('Time of the last run that found it.'),
      }),
      { description: 'Findings of the proofs that are not resolved. Expected: none.' },
    ),
    chains: Type.Array(CustodyDifference, { description: 'Books compared with custody.' }),
    network: Type.Array(NetworkDifference, { description: 'Books compared with card networks.' }),
    paid_calls: Nullable(PaidCallsDifference),
  },
  { description: 'The books compared with custody and card networks.' },
)

const Count = (description: string) => Type.Integer({ description })

export const Figures = Type.Object(
  {
    from: Type.String({ description: 'First day.' }),
    to: Type.String({ description: 'Last day.' }),
    totals: Type.Object({
      accounts: Count('Accounts.'),
      accounts_suspended: Count('Suspended accounts.'),
      cards_active: Count('Active cards.'),
      treasuries_usd: Usd('Sum of account balances.'),
      cards_usd: Usd('Sum of card balances, including holds.'),
      owed_usd: Usd('Sum that accounts owe.'),
    }),
    days: Type.Array(
      Type.Object({
        day: Type.String({ description: 'UTC day.' }),
        accounts_opened: Count('Accounts opened.'),
        deposited_usd: Usd('Credited deposits.'),
        withdrawn_usd: Usd('Completed withdrawals.'),
        approved: Count('Approved purchases.'),
        declined: Count('Declined purchases.'),
        approval_rate: Nullable(Type.Number({ description: 'From 0 to 1.' })),
        decline_reasons: Type.Record(Type.String(), Type.Integer(), {
          description: 'Number of declines per decline code.',
        }),
        captured_usd: Usd('Captured purchases.'),
        refunded_usd: Usd('Refunds.'),
        disputes_opened: Count('Disputes opened.'),
      }),
    ),
  },
  { description: 'Key figures of the program.' },
)

export const OperatorAction = Type.Object(
  {
    id: Type.String({ description: 'Number of the record.' }),
    operator: Type.Object({
      id: Type.String({ description: 'ID of the token.' }),
      name: Type.String({ description: 'Name of the token.' }),
      role: StringEnum(operator_roles, { description: 'Role at that time.' }),
    }),
    action: Type.String({ description: 'The operation.' }),
    resource: Nullable(Type.Object({ type: Type.String(), id: Type.String() })),
    account_id: Nullable(Id('acct', 'ID of the account concerned.')),
    input: Type.Record(Type.String(), Type.Unknown(), { description: 'Input as sent.' }),
    request_id: Type.String({ description: 'ID of the request.' }),
    ip: Type.String({ description: 'IP address.' }),
    created_at: Timestamp('Time.'),
  },
  { description: 'A recorded action of an operator.' },
)

const Names = (description: string) => Type.Array(Type.String(), { description })

export const Grant = Type.Object(
  {
    id: Id('grant', 'ID of the grant.'),
    account_id: Id('acct', 'ID of the account that granted it.'),
    client_id: Type.String({ description: 'ID of the OAuth client.' }),
    client_name: Nullable(Type.String({ description: 'Name of the client.' })),
    status: Type.String({ description: 'active or revoked.' }),
    scopes: Names('Scopes.'),
    resources: Names('Resources it can be used at.'),
    card_ids: Nullable(Names('Cards it is restricted to. Null: all cards.')),
    card_actions: Nullable(Names('Actions allowed on those cards.')),
    last_used_at: Nullable(Timestamp('Time of the last use.')),
    last_used_ip: Nullable(Type.String({ description: 'IP address of the last use.' })),
    created_at: Timestamp('Time it was granted.'),
    updated_at: Timestamp('Time of the last change.'),
    expires_at: Timestamp('Expiry time.'),
    revoked_at: Nullable(Timestamp('Time it was revoked.')),
  },
  { description: 'Access that an account granted to an OAuth client.' },
)
