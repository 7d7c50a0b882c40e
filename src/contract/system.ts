import Type, { type Static } from 'typebox'
import { BODY_BYTES_MAX, EVIDENCE_BYTES_MAX } from './byte_limits.ts'
import { operation, scoped } from './operation.ts'
import { routes } from './routes.ts'
import { Id, Input, Nullable, StringEnum, Timestamp } from './shapes.ts'

const Health = StringEnum(['operational', 'degraded', 'outage', 'maintenance'], {
  description: 'operational: no known problems. degraded: slow or partly failing.',
  examples: ['operational'],
})

const HealthMessage = Nullable(
  Type.String({ description: 'Current problem, if any.', examples: ['Responses are slow.'] }),
)

const LatencyMs = Nullable(
  Type.Number({ description: 'Duration of the last check. Null if unknown.', examples: [4.2] }),
)

export const Maintenance = Type.Object(
  {
    starts_at: Timestamp('Start time.'),
    ends_at: Timestamp('Expected end time.'),
    message: Type.String({
      description: 'What to expect.',
      examples: ['Database upgrade; cards keep working.'],
    }),
    components: Type.Array(Type.String({ examples: ['rails'] }), {
      description: 'Affected components: issuer, rails, network.',
    }),
  },
  { description: 'Scheduled maintenance.' },
)
export type Maintenance = Static<typeof Maintenance>

export const SystemHealth = Type.Object(
  {
    status: Health,
    components: Type.Object(
      {
        issuer: Type.Object(
          { status: Health, message: HealthMessage, latency_ms: LatencyMs },
          { description: 'Card issuing and authorizations.' },
        ),
        rails: Type.Object(
          { status: Health, message: HealthMessage, latency_ms: LatencyMs },
          { description: 'Deposits and withdrawals.' },
        ),
        network: Type.Object(
          {
            status: Health,
            message: HealthMessage,
            chain: Type.String({ description: 'Blockchain.', examples: ['tron'] }),
            block_height: Nullable(
              Type.Integer({ description: 'Last block seen.', examples: [68_000_000] }),
            ),
            lag_seconds: Nullable(
              Type.Number({ description: 'Age of that block.', examples: [3] }),
            ),
          },
          { description: 'The blockchain.' },
        ),
      },
      { description: 'Measured status of each component.' },
    ),
    maintenance: Type.Array(Maintenance, { description: 'Scheduled and ongoing maintenance.' }),
    version: Type.String({ description: 'Version of the service.', examples: ['0.2.0'] }),
    checked_at: Timestamp('Time of measurement.'),
  },
  { description: 'Measured health of the service.' },
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
        burst_per_second: count('Maximum calls per second.', 60),
        sustained_per_minute: count('Maximum calls per minute.', 1000),
        remaining: count('Calls left this minute.', 998),
        resets_at: Timestamp('Time the limit resets.'),
        max_body_bytes: count('Maximum size of a request or response.', BODY_BYTES_MAX),
        max_evidence_bytes: count('Maximum size of an evidence file.', EVIDENCE_BYTES_MAX),
      },
      { description: 'Rate limits of this credential, shared by REST and MCP.' },
    ),
    spend_limits: Type.Object(
      {
        deposit_min_usd: amount('Minimum deposit that is credited.', 1),
        topup_min_usd: amount('Minimum top-up.', 5),
        topup_max_usd: amount('Maximum top-up.', 50_000),
        load_min_usd: amount('Minimum card load.', 1),
        load_max_usd: amount('Maximum card load.', 10_000),
        card_balance_max_usd: amount('Maximum balance of a card.', 20_000),
        cards_max: count("Maximum number of cards that aren't canceled.", 100),
        per_transaction_max_usd: amount('Maximum per purchase.', 10_000),
        daily_max_usd: amount('Maximum a card can spend per UTC day.', 20_000),
        monthly_max_usd: amount('Maximum a card can spend per UTC calendar month.', 100_000),
        withdrawal_min_usd: amount('Minimum withdrawal.', 10),
        withdrawal_max_usd: amount('Maximum withdrawal.', 25_000),
        withdrawal_daily_usd: amount('Maximum withdrawals per UTC day.', 50_000),
        withdrawal_fee_usd: amount('Withdrawal fee, included in the amount.', 1),
        withdrawal_used_today_usd: amount('Withdrawn this UTC day.', 0),
      },
      { description: 'Amount limits of the account.' },
    ),
    scopes: Type.Array(Type.String({ examples: ['card:read'] }), {
      description: 'Scopes of this credential.',
    }),
    credential: Type.Object(
      {
        type: StringEnum(['session', 'api_key', 'oauth_client'], {
          description: 'Type of the credential.',
          examples: ['api_key'],
        }),
        id: Id('key', 'ID of the credential.'),
        card_ids: Nullable(
          Type.Array(Id('card', 'ID of a card.'), {
            description: 'Cards this credential is restricted to. Null: all cards.',
          }),
        ),
      },
      { description: 'The credential that made this call.' },
    ),
    budget: Nullable(
      Type.Object(
        {
          amount_usd: amount('What this app can move out of the balance per period.', 50),
          period: StringEnum(['day', 'month', 'total'], {
            description: 'UTC day, UTC calendar month, or in total.',
            examples: ['day'],
          }),
          used_usd: amount('Used in this period. Approved calls count too.', 38),
          resets_at: Nullable(Timestamp('Start of the next period. Null for a total.')),
          ask_above_usd: Nullable(
            amount('A single call above this needs approval by the owner.', 30),
          ),
        },
        {
          description:
            'Budget of this app. load_card, issue_card with a load and withdraw count; ' +
            'unload_card gives back. Calls beyond it need approval by the owner.',
        },
      ),
    ),
    programme: Type.Object(
      {
        bins: Type.Array(
          Type.Object({
            bin: Type.String({ description: 'The BIN.', examples: ['400000'] }),
            brand: StringEnum(['visa', 'mastercard'], {
              description: 'Card network.',
              examples: ['visa'],
            }),
            types: Type.Array(StringEnum(['virtual', 'physical'], { examples: ['virtual'] }), {
              description: 'Card types it can issue.',
            }),
            default: Type.Boolean({
              description: 'True if issue_card uses this BIN by default.',
              examples: [true],
            }),
          }),
          { description: 'BINs available for new cards.' },
        ),
      },
      { description: 'Card program settings.' },
    ),
    prices: Type.Record(Type.String(), amount('Price of one call.', 0.5), {
      description: 'Operations charged per call (x402), with their prices in US dollars.',
      examples: [{ issue_card: 0.5 }],
    }),
  },
  { description: 'Limits, scopes and prices for the calling credential.' },
)
export type SystemLimits = Static<typeof SystemLimits>

export const get_system_health = operation({
  name: 'get_system_health',
  ...routes.get_system_health,
  status: 200,
  section: 'Support and system',
  summary: 'Retrieve the service health.',
  description:
    'Returns the measured health of card issuing, deposits and withdrawals, and the blockchain, ' +
    'with scheduled maintenance. The HTTP status is 200 even during an outage: read `status`. ' +
    'Check it when deposits or purchases are slow.',
  access: scoped('system:read'),
  input: Input({}),
  output: SystemHealth,
})

export const get_limits = operation({
  name: 'get_limits',
  ...routes.get_limits,
  status: 200,
  section: 'Support and system',
  summary: 'Retrieve your limits.',
  description:
    'Returns the rate limit of this credential and what is left of it, minimum and maximum ' +
    'amounts, the withdrawal fee, the scopes held, the BINs available for new cards, and ' +
    'operations that are charged per call. Call it before your first write.',
  access: scoped('system:read'),
  input: Input({}),
  output: SystemLimits,
})
