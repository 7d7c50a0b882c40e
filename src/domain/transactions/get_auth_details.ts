import { Problem } from '#contract/problem.ts'
import type { AuthDetails } from '#contract/transactions.ts'
import type { Handler } from '#domain/context/context.ts'
import { nameFields } from '#iso8583/element_names.ts'
import { type LinkName, links } from '#iso8583/links.ts'
import { decode } from '#iso8583/message.ts'
import type { TransactionRow } from './transaction.ts'
import { findMessage, findTransactionOf, type MessageRow } from './transaction_store.ts'

export const getAuthDetails: Handler<'get_auth_details'> = async ({ tx, caller }, { id }) => {
  const transaction = await findTransactionOf(tx, caller, id)
  const identity = transaction.message_identity
  const message = identity === null ? null : await findMessage(tx, identity)
  if (message === null) {
    throw new Problem('not_found', 'This transaction has no ISO 8583 message.')
  }
  return authDetailsView(transaction, message)
}

/** Elements that only the response has; its other elements repeat the request. */
const RESPONSE_ELEMENTS = [38, 39, 44, 54] as const

/** The response of a card link is stored as bytes, with zeros in place of the card number. */
function readResponseFields(
  { link, answer, response_fields }: MessageRow,
  masked_pan: string | undefined,
): Record<number, string> {
  if (!(link in links)) return JSON.parse(response_fields) as Record<number, string>
  const { fields } = decode(links[link as LinkName], answer)
  if (fields[2] !== undefined && masked_pan !== undefined) fields[2] = masked_pan
  return fields
}

/** The message was masked before it was stored, so all its fields can be shown. */
function authDetailsView(transaction: TransactionRow, message: MessageRow): AuthDetails {
  const request_fields = JSON.parse(message.fields) as Record<number, string>
  const response_fields = readResponseFields(message, request_fields[2])
  const fields = { ...request_fields }
  for (const element of RESPONSE_ELEMENTS) {
    const value = response_fields[element]
    if (value !== undefined) fields[element] = value
  }
  return {
    transaction_id: transaction.id,
    network: transaction.network,
    iso_version: '1987',
    mti: message.mti,
    response_mti: message.response_mti,
    bitmap: message.bitmap,
    fields,
    response_fields,
    named: nameFields(fields),
    response_code: message.response_code,
    raw_hex: message.raw.toString('hex'),
    received_at: message.received_at.toISOString(),
  }
}
