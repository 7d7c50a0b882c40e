import type { PaymentPayload } from '@x402/core/types'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { JsonError, readJson } from '#kernel/json.ts'
import type { Micros } from '#kernel/money.ts'
import { evmAddressFromHex } from '#rails/chain/evm/address.ts'
import { sameAddress } from './receipt.ts'
import { type PricedCall, requirementOf } from './requirement.ts'

const Digits = Type.String({ pattern: '^\\d{1,78}$' })
const Address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })

/** The fields that we read; the others are passed to the facilitator unchanged. */
const PaymentShape = Type.Object({
  x402Version: Type.Literal(2),
  resource: Type.Optional(Type.Object({ url: Type.String() })),
  accepted: Type.Object({
    scheme: Type.String(),
    network: Type.String(),
    asset: Type.String(),
    amount: Type.String(),
    payTo: Type.String(),
  }),
  payload: Type.Object({
    signature: Type.String({ pattern: '^0x(?:[0-9a-fA-F]{2}){1,4096}$' }),
    authorization: Type.Object({
      from: Address,
      to: Address,
      value: Digits,
      validAfter: Digits,
      validBefore: Digits,
      nonce: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }),
    }),
  }),
})

const validator = Compile(PaymentShape)

/** A signed EIP-3009 authorization: the original payload and the fields that we read. */
export type Payment = {
  payer: string
  nonce: string
  amount_micros: Micros
  valid_before: Date
  payload: PaymentPayload
}

/** Later expiries count as this one, the year 2100: they are too late for a Date. */
const SECONDS_MAX = 4_102_444_800n
const HEADER_LENGTH_MAX = 16_384

/** The payment in a header, or the reason why it does not pay for this call. */
export function readPayment(header: string, priced: PricedCall): Payment | string {
  const sent = decodeHeader(header)
  if (!validator.Check(sent)) return 'it is not the base64 JSON of an x402 payment, version 2'
  const mismatch = findMismatch(sent, priced)
  if (mismatch !== null) return mismatch
  const { from, nonce, value, validBefore } = sent.payload.authorization
  const seconds = BigInt(validBefore)
  return {
    payer: evmAddressFromHex(from) ?? from,
    nonce: nonce.toLowerCase(),
    amount_micros: BigInt(value),
    valid_before: new Date(Number(seconds < SECONDS_MAX ? seconds : SECONDS_MAX) * 1_000),
    payload: sent as unknown as PaymentPayload,
  }
}

function decodeHeader(header: string): unknown {
  if (header.length > HEADER_LENGTH_MAX || !/^[A-Za-z0-9+/=_-]+$/.test(header)) return null
  try {
    return readJson(Buffer.from(header, 'base64').toString('utf8'))
  } catch (cause) {
    if (cause instanceof JsonError) return null
    throw cause
  }
}

/** Compares the signed payment with the requirement of this call. */
function findMismatch(sent: Static<typeof PaymentShape>, priced: PricedCall): string | null {
  const asked = requirementOf(priced)
  const { accepted, resource } = sent
  const { to, value } = sent.payload.authorization
  if (accepted.scheme !== asked.scheme) return `its scheme is not ${asked.scheme}`
  if (accepted.network !== asked.network) return `its network is not ${asked.network}`
  if (!sameAddress(accepted.asset, asked.asset)) return `its asset is not ${asked.asset}`
  if (accepted.amount !== asked.amount || value !== asked.amount) {
    return `its amount is not ${asked.amount}`
  }
  if (!sameAddress(accepted.payTo, asked.payTo) || !sameAddress(to, asked.payTo)) {
    return `it does not pay ${asked.payTo}`
  }
  if (resource !== undefined && resource.url !== priced.url) {
    return `it was made for ${resource.url}, not for ${priced.url}`
  }
  return null
}
