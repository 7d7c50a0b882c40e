import Type, { type Static } from 'typebox'
import { operation, scoped } from './operation.ts'
import { routes } from './routes.ts'
import { Id, Input, Nullable, OneOf, Timestamp } from './shapes.ts'

const Health = OneOf(['operational', 'degraded', 'outage', 'maintenance'], {
  description: 'operational: all is well. degraded: slower or partly failing.',
  examples: ['operational'],
})

const HealthMessage = Nullable(
  Type.String({ description: 'What is the matter, if anything.', examples: ['Slow answers.'] }),
)

const LatencyMs = Nullable(
  Type.Number({ description: 'How long the last check took; null if unknown.', examples: [4.2] }),
)

export const Maintenance = Type.Object(
  {
    starts_at: Timestamp('When it begins.'),
    ends_at: Timestamp('When it is to end.'),
    message: Type.String({
      description: 'What will be done.',
      examples: ['Database upgrade; cards keep working.'],
    }),
    components: Type.Array(Type.String({ examples: ['rails'] }), {
      description: 'The parts it concerns: issuer, rails, network.',
    }),
  },
  { description: 'Planned maintenance.' },
)
export type Maintenance = Static<typeof Maintenance>

export const SystemHealth = Type.Object(
  {
    status: Health,
    components: Type.Object(
      {
        issuer: Type.Object(
          { status: Health, message: HealthMessage, latency_ms: LatencyMs },
          { description: 'Issuing cards and answering purchases.' },
        ),
        rails: Type.Object(
          { status: Health, message: HealthMessage, latency_ms: LatencyMs },
          { description: 'Deposits and withdrawals.' },
        ),
        network: Type.Object(
          {
            status: Health,
            message: HealthMessage,
            chain: Type.String({ description: 'The chain.', examples: ['tron'] }),
            block_height: Nullable(
              Type.Integer({ description: 'The last block seen.', examples: [68_000_000] }),
            ),
            lag_seconds: Nullable(
              Type.Number({ description: 'How old that block is.', examples: [3] }),
            ),
          },
          { description: 'The blockchain.' },
        ),
      },
      { description: 'The parts, each measured.' },
    ),
    maintenance: Type.Array(Maintenance, { description: 'What is planned or under way.' }),
    version: Type.String({ description: 'The version of the service.', examples: ['0.1.0'] }),
    checked_at: Timestamp('When this was measured.'),
  },
  { description: 'How the service is doing, measured.' },
)
export type SystemHealth = Static<typeof SystemHealth>

const amount = (description: string, example: number) =>
  Type.Number({ description, examples: [example] })
const count = (description: string, example: number) =>
  Type.Integer({ description, examples: [example] })

export const SystemLimits = Type.Object(
  {
    rate_limits: Type.Object(
      {
        burst_per_second: count('Calls in any second.', 60),
        sustained_per_minute: count('Calls in any minute.', 1000),
        remaining: count('Calls left of the sustained limit.', 998),
        resets_at: Timestamp('When all of it is there again.'),
        max_body_bytes: count('The largest request or answer.', 26_214_400),
        max_evidence_bytes: count('The largest piece of evidence.', 104_857_600),
      },
      { description: 'How often this credential may call; shared by REST and agent tools.' },
    ),
    spend_limits: Type.Object(
      {
        deposit_min_usd: amount('The smallest deposit that is credited.', 1),
        topup_min_usd: amount('The smallest top-up that can be asked for.', 5),
        topup_max_usd: amount('The largest.', 50_000),
        load_min_usd: amount('The smallest load of a card.', 1),
        load_max_usd: amount('The largest.', 10_000),
        card_balance_max_usd: amount('The most a card may hold.', 20_000),
        cards_max: count('Cards that are not cancelled.', 100),
        per_transaction_max_usd: amount('The most a purchase may cost.', 10_000),
        daily_max_usd: amount('The most a card may spend per UTC day.', 20_000),
        monthly_max_usd: amount('The most a card may spend per UTC month.', 100_000),
        withdrawal_min_usd: amount('The smallest withdrawal.', 10),
        withdrawal_max_usd: amount('The largest.', 25_000),
        withdrawal_daily_usd: amount('The most that can be withdrawn per UTC day.', 50_000),
        withdrawal_fee_usd: amount('The fee of a withdrawal, inside its amount.', 1),
        withdrawal_used_today_usd: amount('Withdrawn this UTC day.', 0),
      },
      { description: 'How much the account may move.' },
    ),
    scopes: Type.Array(Type.String({ examples: ['card:read'] }), {
      description: 'The scopes this credential acts with.',
    }),
    credential: Type.Object(
      {
        type: OneOf(['session', 'api_key', 'oauth_client'], {
          description: 'The kind of credential.',
          examples: ['api_key'],
        }),
        id: Id('key', 'The credential.'),
        card_ids: Nullable(
          Type.Array(Id('card', 'A card.'), {
            description: 'The only cards it sees; null: all of them.',
          }),
        ),
      },
      { description: 'What made this call.' },
    ),
    programme: Type.Object(
      {
        bins: Type.Array(
          Type.Object({
            bin: Type.String({ description: 'The BIN.', examples: ['400000'] }),
            brand: OneOf(['visa', 'mastercard'], {
              description: 'The network of its cards.',
              examples: ['visa'],
            }),
            types: Type.Array(OneOf(['virtual', 'physical'], { examples: ['virtual'] }), {
              description: 'The types of card it has.',
            }),
            default: Type.Boolean({
              description: 'Whether issue_card takes it when none is named.',
              examples: [true],
            }),
          }),
          { description: 'The BINs that cards can be issued with.' },
        ),
      },
      { description: 'What the programme offers.' },
    ),
    prices: Type.Record(Type.String(), amount('What one call costs.', 0.5), {
      description: 'Operations that are paid for call by call (x402), and their prices in dollars.',
      examples: [{ issue_card: 0.5 }],
    }),
  },
  { description: 'What this caller may do, how often and how much.' },
)
export type SystemLimits = Static<typeof SystemLimits>

export const get_system_health = operation({
  name: 'get_system_health',
  ...routes.get_system_health,
  status: 200,
  section: 'Support and system',
  summary: 'Read the health of the service.',
  description:
    'How issuer, rails and chain are doing, as measured, with planned maintenance. Answers 200 ' +
    'whenever the API answers: read `status`. Ask it when deposits or purchases are slow.',
  access: scoped('system:read'),
  input: Input({}),
  output: SystemHealth,
})

export const get_limits = operation({
  name: 'get_limits',
  ...routes.get_limits,
  status: 200,
  section: 'Support and system',
  summary: 'Read your limits.',
  description:
    'How often this credential may call and what is left of it, the smallest and largest amounts ' +
    'of every operation with money, the fee of a withdrawal, the scopes held, the BINs to ' +
    'issue with, and which operations cost something. Ask it before the first write.',
  access: scoped('system:read'),
  input: Input({}),
  output: SystemLimits,
})
