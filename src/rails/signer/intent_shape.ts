import Type from 'typebox'
import { Compile } from 'typebox/compile'
import type { TransferIntent } from './intent.ts'

/** An integer as digits; BigInt would throw on anything else and stop the signer. */
const digits = (max: number) => Type.String({ pattern: `^\\d{1,${max}}$`, maxLength: max })
const count = (maximum: number) => Type.Integer({ minimum: 0, maximum })
const exact = { additionalProperties: false } as const
const Address = Type.String({ pattern: '^[A-Za-z0-9]{1,64}$', maxLength: 64 })

/** Of a transaction that was sent by hand; a longer one does not fit into a line. */
export const TRANSACTION_DIGITS_MAX = 8_192

/** Every intent is validated against this before it is used. */
const IntentShape = Type.Object(
  {
    id: Type.String({ pattern: '^[\\x21-\\x7e]{1,160}$', maxLength: 160 }),
    attempt: Type.Integer({ minimum: 1, maximum: 10_000 }),
    purpose: Type.Union([Type.Literal('withdrawal'), Type.Literal('sweep'), Type.Literal('fuel')]),
    chain: Type.String({ pattern: '^[\\x21-\\x7e]{1,64}$', maxLength: 64 }),
    contract: Type.Union([Address, Type.Null()]),
    deposit_index: Type.Union([count(2 ** 31 - 1), Type.Null()]),
    to: Address,
    amount: digits(30),
    approval: Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$', maxLength: 64 }), Type.Null()]),
    network: Type.Union([
      Type.Object(
        {
          family: Type.Literal('tron'),
          reference: Type.Object(
            {
              number: count(Number.MAX_SAFE_INTEGER),
              id: Type.String({ pattern: '^[0-9a-f]{64}$', maxLength: 64 }),
            },
            exact,
          ),
          fee_limit_sun: digits(18),
        },
        exact,
      ),
      Type.Object(
        {
          family: Type.Literal('evm'),
          chain_id: count(Number.MAX_SAFE_INTEGER),
          nonce: count(Number.MAX_SAFE_INTEGER),
          gas: digits(18),
          max_fee_per_gas: digits(30),
          max_priority_fee_per_gas: digits(30),
          nonce_taken_by: Type.Optional(
            Type.String({ pattern: '^([0-9a-f]{2})+$', maxLength: TRANSACTION_DIGITS_MAX }),
          ),
        },
        exact,
      ),
    ]),
  },
  exact,
)

const validator = Compile(IntentShape)

/** Parses a line into an intent, or null if it is not valid. */
export function readIntent(line: string): TransferIntent | null {
  try {
    const value: unknown = JSON.parse(line)
    return validator.Check(value) ? value : null
  } catch {
    return null
  }
}
