import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { CardFacts } from './facts.ts'
import type { CardRequest, PurchaseReference } from './request.ts'

/**
 * The purchases that the messages of a batch may mean: those that were looked up, and those that
 * the batch itself has made.
 */
export class Purchases {
  readonly #by_card = new Map<string, TransactionRow[]>()

  add(row: TransactionRow): void {
    const rows = this.#by_card.get(row.card_id)
    if (rows === undefined) this.#by_card.set(row.card_id, [row])
    else rows.push(row)
  }

  byId(card: CardFacts, id: string | null): TransactionRow | null {
    return this.#rowsOf(card).find((row) => row.id === id) ?? null
  }

  /** The captures of an authorization, oldest first. */
  capturesOf(card: CardFacts, authorization: TransactionRow): TransactionRow[] {
    if (authorization.type === 'capture') return [authorization]
    return this.#rowsOf(card)
      .filter((row) => row.type === 'capture' && row.authorization_id === authorization.id)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** The row of the very message that is named; a repeat of it has the same identity. */
  byMessage(card: CardFacts, identity: string | null): TransactionRow | null {
    if (identity === null) return null
    return this.#rowsOf(card).find((row) => row.message_identity === identity) ?? null
  }

  /** A clearing: by its reference, then its approval code, then the message it names. */
  ofClearing(card: CardFacts, { reference }: CardRequest): TransactionRow | null {
    return (
      this.#head(card, this.byId(card, reference.transaction_id)) ??
      this.#byReference(card, reference) ??
      this.#byCode(card, reference) ??
      this.#head(card, this.byMessage(card, reference.original_identity))
    )
  }

  /** A reversal: by the message it names first, because that is what it is about. */
  ofReversal(card: CardFacts, { reference }: CardRequest): TransactionRow | null {
    return (
      this.byId(card, reference.transaction_id) ??
      this.byMessage(card, reference.original_identity) ??
      this.#byReference(card, reference) ??
      this.#byCode(card, reference)
    )
  }

  #rowsOf(card: CardFacts): TransactionRow[] {
    return this.#by_card.get(card.id) ?? []
  }

  /** What stands for the whole purchase, given any part of it. */
  #head(card: CardFacts, row: TransactionRow | null): TransactionRow | null {
    if (row === null || row.authorization_id === null) return row
    return this.byId(card, row.authorization_id) ?? row
  }

  #byReference(card: CardFacts, reference: PurchaseReference): TransactionRow | null {
    const { retrieval_reference_number, authorization_code } = reference
    if (retrieval_reference_number === null) return null
    const sequences = this.#rowsOf(card).filter(
      (row) => isHead(row) && row.retrieval_reference_number === retrieval_reference_number,
    )
    return best(sequences, authorization_code)
  }

  #byCode(card: CardFacts, { authorization_code }: PurchaseReference): TransactionRow | null {
    if (authorization_code === null) return null
    const sequences = this.#rowsOf(card).filter(
      (row) => row.type === 'authorization' && row.authorization_code === authorization_code,
    )
    return best(sequences, authorization_code)
  }
}

const isHead = (row: TransactionRow): boolean =>
  row.authorization_id === null || row.authorization_id === row.id

/** No single field is reliable: an approval before a decline, its own code, still open, newest. */
function best(rows: readonly TransactionRow[], code: string | null): TransactionRow | null {
  const score = (row: TransactionRow) =>
    (row.type === 'authorization' ? 8 : row.type === 'capture' ? 4 : 0) +
    (code !== null && row.authorization_code === code ? 2 : 0) +
    (row.open_micros > 0n ? 1 : 0)
  const ranked = rows.toSorted((a, b) => score(b) - score(a) || (a.id < b.id ? 1 : -1))
  return ranked[0] ?? null
}
