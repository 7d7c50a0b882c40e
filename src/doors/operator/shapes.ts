import Type, { type TObject, type TProperties } from 'typebox'
import { Account } from '#contract/accounts.ts'
import { Id, Nullable, StringEnum, Timestamp, Usd, UsdInput } from '#contract/shapes.ts'
import { operator_roles } from '#domain/operators/operator.ts'
import { DEFAULT_SPEND_LIMITS, type SpendLimits } from '#settings/spend_limit_settings.ts'

/** What only those who run the programme see. */

/** An object of an account, with whose it is. */
export const owned = <Properties extends TProperties>(shape: TObject<Properties>) =>
  Type.Object({ account_id: Id('acct', 'Whose it is.'), ...shape.properties })

export const AccountFilter = Type.Optional(Id('acct', 'Only of this account.'))

const limit_names = Object.keys(DEFAULT_SPEND_LIMITS) as (keyof SpendLimits)[]

const limitsWith = <Each extends Type.TSchema>(each: (name: string) => Each) =>
  Object.fromEntries(limit_names.map((name) => [name, each(name)])) as Record<
    keyof SpendLimits,
    Each
  >

const Limits = Type.Object(limitsWith((name) => Type.Number({ description: `${name}.` })))
const OwnLimits = Type.Object(
  limitsWith((name) => Type.Optional(Type.Number({ description: `${name}, for this account.` }))),
)

/** Every limit by name: a number sets it for the account, null gives it back to the programme. */
export const limitChanges = limitsWith((name) =>
  Type.Optional(Nullable(limitInput(name, `${name}; null: the programme's own.`))),
)

function limitInput(name: string, description: string) {
  return name.endsWith('_usd') ? UsdInput(description) : Type.Integer({ minimum: 0, description })
}

const rate_profiles = ['default', 'conservative'] as const

export const RateProfile = Nullable(
  StringEnum(rate_profiles, { description: "Its rate limits; null: the programme's own." }),
)

export const AdministeredAccount = Type.Object(
  {
    ...Account.properties,
    rate_profile: RateProfile,
    own_limits: OwnLimits,
    spend_limits: Limits,
  },
  { description: 'An account, with what was set for it.' },
)

export const KillSwitch = Type.Object(
  {
    rail: StringEnum(['topups', 'withdrawals', 'issuing', 'authorizations'], {
      description: 'What it stops.',
    }),
    on: Type.Boolean({ description: 'Whether it is stopped.' }),
    reason: Nullable(Type.String({ description: 'Why it was last changed.' })),
    changed_at: Nullable(Timestamp('When it was last changed.')),
  },
  { description: 'A kill switch: while it is on, nothing new begins on its rail.' },
)

export const HeldDeposit = Type.Object(
  {
    id: Id('bal', 'The movement into suspense.'),
    account_id: Id('acct', 'Whose deposit it is.'),
    topup_id: Id('tup', 'The top-up it arrived for.'),
    chain: Type.String({ description: 'The chain it arrived on.' }),
    txid: Type.String({ description: 'The transfer.' }),
    from_address: Type.String({ description: 'Who sent it.' }),
    amount_usd: Usd('How much.'),
    reason: Type.String({ description: 'below_minimum, screening or kill_switch.' }),
    created_at: Timestamp('When it was held.'),
  },
  { description: 'A deposit in suspense.' },
)

export const UnpricedClearing = Type.Object(
  {
    id: Id('txn', 'The clearing; the transaction that comes of it has an id of its own.'),
    account_id: Id('acct', 'Whose card it was.'),
    card_id: Id('card', 'The card.'),
    kind: StringEnum(['advise', 'capture', 'refund'], { description: 'What the network told.' }),
    amount: Type.Number({ description: "In the merchant's currency." }),
    currency: Type.String({ description: "The merchant's currency; ??? where nobody knows it." }),
    merchant_name: Type.String({ description: 'The merchant.' }),
    amount_usd: Nullable(Usd('What a person has said that it is.')),
    created_at: Timestamp('When it came.'),
  },
  { description: 'A clearing that waits for its dollars.' },
)

export const HeldRefund = Type.Object(
  {
    id: Id('txn', 'The refund; the transaction that comes of it has an id of its own.'),
    account_id: Id('acct', 'The account that would be credited.'),
    card_id: Id('card', 'The card.'),
    status: StringEnum(['waiting', 'approved', 'refused'], { description: 'What was decided.' }),
    amount: Type.Number({ description: "In the merchant's currency." }),
    currency: Type.String({ description: "The merchant's currency." }),
    amount_usd: Usd('The amount that would be credited.'),
    merchant_name: Type.String({ description: 'The merchant.' }),
    created_at: Timestamp('When the network sent it.'),
  },
  { description: 'A refund of more than its purchase took, held for approval.' },
)

const Difference = Type.Object({
  chain: Type.String({ description: 'The chain.' }),
  asset: Type.String({ description: 'The asset.' }),
  ledger_usd: Usd('What the books say we keep.'),
  in_flight_usd: Usd('Signed and not final: it may have left already.'),
  float_usd: Usd('Your own coins in the hot wallet, as the settings declare them.'),
  on_chain_usd: Nullable(Usd('What the chain says that we hold for good.')),
  difference_usd: Nullable(Usd('On the chain less the float and less the books.')),
  is_short: Type.Boolean({ description: 'Whether coins are missing, the float included.' }),
  fault: Nullable(Type.String({ description: 'Why the chain could not be asked.' })),
})

export const Reconciliation = Type.Object(
  {
    checked_at: Timestamp('When.'),
    violations: Type.Array(
      Type.Object({
        proof: Type.String({ description: 'What should hold.' }),
        found: Type.Record(Type.String(), Type.Unknown()),
      }),
      { description: 'Proofs of the ledger that do not hold; none.' },
    ),
    chains: Type.Array(Difference, { description: 'The books against coins in custody.' }),
    network: Type.Array(
      Type.Object({
        network: Type.String({ description: 'The card network.' }),
        ledger_usd: Usd('What the books have given it.'),
        transactions_usd: Usd('What its captures less its refunds come to.'),
        difference_usd: Usd('The former less the latter.'),
      }),
      { description: 'The books against what the networks have settled.' },
    ),
    paid_calls: Nullable(
      Type.Object(
        {
          network: Type.String({ description: 'The network they are paid on.' }),
          asset: Type.String({ description: 'The asset.' }),
          ledger_usd: Usd('Received and not sent back.'),
          owed_usd: Usd('Received for calls that were not made, and not given back yet.'),
          credited_usd: Usd('Given back to treasuries: these coins belong into custody.'),
          relayer_fees_usd: Usd('What the network took for our transfers.'),
          in_flight_usd: Usd('Sent and not confirmed.'),
          on_chain_usd: Nullable(Usd('What the address that is paid holds.')),
          difference_usd: Nullable(Usd('On the chain less in the books.')),
          fault: Nullable(Type.String({ description: 'Why the chain could not be asked.' })),
        },
        { description: 'The books against what calls have brought in; null where none costs.' },
      ),
    ),
  },
  { description: 'The books against the world.' },
)

const Count = (description: string) => Type.Integer({ description })

export const Figures = Type.Object(
  {
    from: Type.String({ description: 'The first day.' }),
    to: Type.String({ description: 'The last day.' }),
    totals: Type.Object({
      accounts: Count('All accounts.'),
      accounts_suspended: Count('Those that are suspended.'),
      cards_active: Count('Cards that can pay.'),
      treasuries_usd: Usd('In all balances.'),
      cards_usd: Usd('On all cards, holds included.'),
      owed_usd: Usd('What accounts owe us.'),
    }),
    days: Type.Array(
      Type.Object({
        day: Type.String({ description: 'The UTC day.' }),
        accounts_opened: Count('New accounts.'),
        deposited_usd: Usd('Credited deposits.'),
        withdrawn_usd: Usd('Final withdrawals.'),
        approved: Count('Approved purchases.'),
        declined: Count('Declined purchases.'),
        approval_rate: Nullable(Type.Number({ description: 'From 0 to 1.' })),
        decline_reasons: Type.Record(Type.String(), Type.Integer(), {
          description: 'Decline codes and how often.',
        }),
        captured_usd: Usd('Settled purchases.'),
        refunded_usd: Usd('Refunds.'),
        disputes_opened: Count('New disputes.'),
      }),
    ),
  },
  { description: 'The programme in figures.' },
)

export const OperatorAct = Type.Object(
  {
    id: Type.String({ description: 'Its number.' }),
    operator: Type.Object({
      id: Type.String({ description: 'The token.' }),
      name: Type.String({ description: 'Its name.' }),
      role: StringEnum(operator_roles, { description: 'Its role at that time.' }),
    }),
    act: Type.String({ description: 'What was done.' }),
    resource: Nullable(Type.Object({ type: Type.String(), id: Type.String() })),
    account_id: Nullable(Id('acct', 'The account concerned.')),
    input: Type.Record(Type.String(), Type.Unknown(), { description: 'As it was sent.' }),
    request_id: Type.String({ description: 'The request.' }),
    ip: Type.String({ description: 'Where it came from.' }),
    created_at: Timestamp('When.'),
  },
  { description: 'Something that was done with an operator token.' },
)

const Words = (description: string) => Type.Array(Type.String(), { description })

export const Grant = Type.Object(
  {
    id: Id('grant', 'The grant.'),
    account_id: Id('acct', 'Who allowed it.'),
    client_id: Type.String({ description: 'The client that was allowed.' }),
    client_name: Nullable(Type.String({ description: 'What it calls itself.' })),
    status: Type.String({ description: 'active or revoked.' }),
    scopes: Words('What it may do.'),
    resources: Words('Where it may do it.'),
    card_ids: Nullable(Words('The only cards it sees; null: all of them.')),
    card_actions: Nullable(Words('What it may do with those cards.')),
    last_used_at: Nullable(Timestamp('When it was last used.')),
    last_used_ip: Nullable(Type.String({ description: 'From where.' })),
    created_at: Timestamp('When it was given.'),
    updated_at: Timestamp('When it last changed.'),
    expires_at: Timestamp('When it ends by itself.'),
    revoked_at: Nullable(Timestamp('When it was ended.')),
  },
  { description: 'What an account allowed an agent.' },
)
