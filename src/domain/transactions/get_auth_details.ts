import { Problem } from '#contract/problem.ts'
import type { AuthDetails } from '#contract/transactions.ts'
import type { Handler } from '#domain/context/context.ts'
import { nameFields } from '#iso8583/element_names.ts'
import { type LinkName, links } from '#iso8583/links.ts'
import { readMasked } from '#iso8583/mask.ts'
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

/** The authorization code and the response code, shown beside the request's elements. */
const RESPONSE_ELEMENTS = [38, 39] as const

type Elements = { bitmap: string; fields: Fields; response_fields: Fields }
type Fields = Record<number, string>

/** A card link's elements are in its bytes; a processor's are stored as JSON. */
function readElements({ link, raw, fields, answer, response_fields }: MessageRow): Elements {
  if (fields !== null && response_fields !== null) {
    const read = { fields: JSON.parse(fields), response_fields: JSON.parse(response_fields) }
    return { bitmap: '', ...(read as Omit<Elements, 'bitmap'>) }
  }
  const layout = links[link as LinkName]
  const request = readMasked(layout, raw)
  const response = decode(layout, answer)
  const masked_pan = request.fields[2]
  // The response was stored with zeros in place of the card number.
  if (response.fields[2] !== undefined && masked_pan !== undefined) response.fields[2] = masked_pan
  return {
    bitmap: request.bitmap_hex,
    fields: request.fields,
    response_fields: response.fields,
  }
}

/** The message was masked before it was stored, so all its fields can be shown. */
function authDetailsView(transaction: TransactionRow, message: MessageRow): AuthDetails {
  const { bitmap, fields, response_fields } = readElements(message)
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
    bitmap,
    fields,
    response_fields,
    named: nameFields(fields),
    response_code: message.response_code,
    raw_hex: message.raw.toString('hex'),
    received_at: message.received_at.toISOString(),
  }
}
