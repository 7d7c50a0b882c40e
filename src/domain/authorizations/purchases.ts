import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { CardState } from './card_state.ts'
import type { CardRequest, PurchaseReference } from './request.ts'

/** A request adds its amount to the purchase; an advice sets the purchase's new amount. */
type PurchaseChange = { transaction_id: string; is_request: boolean }

/** The purchases that messages of a batch may refer to: loaded ones and those the batch made. */
export class Purchases {
  readonly #by_card = new Map<string, TransactionRow[]>()
  readonly #changed_by = new Map<string, PurchaseChange>()

  add(row: TransactionRow): void {
    const rows = this.#by_card.get(row.card_id)
    if (rows === undefined) this.#by_card.set(row.card_id, [row])
    else rows.push(row)
  }

  /** A message that changed a purchase and has no row of its own. */
  addChange(identity: string, changed: PurchaseChange): void {
    this.#changed_by.set(identity, changed)
  }

  /** True for a message that added to the purchase that an earlier message made. */
  isIncrement(identity: string | null, { message_identity }: TransactionRow): boolean {
    if (identity === null || identity === message_identity) return false
    return this.#changed_by.get(identity)?.is_request === true
  }

  byId(card: CardState, id: string | null): TransactionRow | null {
    return this.#rowsOf(card).find((row) => row.id === id) ?? null
  }

  /** The captures of an authorization, oldest first. */
  capturesOf(card: CardState, authorization: TransactionRow): TransactionRow[] {
    if (authorization.type === 'capture') return [authorization]
    return this.#rowsOf(card)
      .filter((row) => row.type === 'capture' && row.authorization_id === authorization.id)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** The refunds of an authorization that were not reversed, oldest first. */
  refundsOf(card: CardState, authorization: TransactionRow): TransactionRow[] {
    return this.#rowsOf(card)
      .filter(
        ({ type, status, authorization_id }) =>
          type === 'refund' && status === 'settled' && authorization_id === authorization.id,
      )
      .sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  /**
   * The ID of the newest row of the purchase that a new row belongs to, or whose reference number
   * it repeats.
   */
  newestOf(
    card: CardState,
    { kind, reference }: CardRequest,
    authorization_id: string | null,
  ): string | null {
    if (kind === 'authorize' || kind === 'debit') return null
    const { retrieval_reference_number: number } = reference
    let newest: string | null = null
    for (const row of this.#rowsOf(card)) {
      const isOfPurchase =
        authorization_id === null
          ? number !== null && row.retrieval_reference_number === number
          : row.authorization_id === authorization_id
      if (isOfPurchase && (newest === null || row.id > newest)) newest = row.id
    }
    return newest
  }

  /** The row of the named message, or the one it changed; repeats have the same identity. */
  byMessage(card: CardState, identity: string | null): TransactionRow | null {
    if (identity === null) return null
    const own = this.#rowsOf(card).find((row) => row.message_identity === identity)
    return own ?? this.byId(card, this.#changed_by.get(identity)?.transaction_id ?? null)
  }

  /** The row of the named message, whatever acquirer its name has. */
  byOriginal(
    card: CardState,
    { original_identity, original_prefix }: PurchaseReference,
  ): TransactionRow | null {
    const exact = this.byMessage(card, original_identity)
    if (exact !== null || original_prefix === null) return exact
    const isNamed = ({ message_identity }: TransactionRow) =>
      message_identity?.startsWith(original_prefix) === true
    return this.#rowsOf(card).find(isNamed) ?? null
  }

  /**
   * Finds a clearing's purchase by reference, then approval code, then the named message. A decline
   * with its reference must not hide the purchase that the others name.
   */
  ofClearing(card: CardState, { kind, reference }: CardRequest): TransactionRow | null {
    const isPurchase = ({ type }: TransactionRow) =>
      type === 'authorization' || (kind === 'refund' && type === 'capture')
    return (
      this.#authorizationOf(card, this.byId(card, reference.transaction_id)) ??
      this.#byReference(card, reference, isPurchase) ??
      this.#byCode(card, reference) ??
      this.#authorizationOf(card, this.byMessage(card, reference.original_identity))
    )
  }

  /** Finds the purchase of an increment, an expiry or a reversal, by the named message first. */
  ofReversal(card: CardState, { reference }: CardRequest): TransactionRow | null {
    return (
      this.byId(card, reference.transaction_id) ??
      this.byMessage(card, reference.original_identity) ??
      this.#byReference(card, reference) ??
      this.#byCode(card, reference)
    )
  }

  #rowsOf(card: CardState): TransactionRow[] {
    return this.#by_card.get(card.id) ?? []
  }

  /** The authorization of a purchase, given any of its rows. */
  #authorizationOf(card: CardState, row: TransactionRow | null): TransactionRow | null {
    if (row === null || row.authorization_id === null) return row
    return this.byId(card, row.authorization_id) ?? row
  }

  #byReference(
    card: CardState,
    { retrieval_reference_number, authorization_code }: PurchaseReference,
    isWanted: (row: TransactionRow) => boolean = () => true,
  ): TransactionRow | null {
    if (retrieval_reference_number === null) return null
    const candidates = this.#rowsOf(card).filter(
      (row) =>
        isAuthorizationRow(row) &&
        row.retrieval_reference_number === retrieval_reference_number &&
        isWanted(row),
    )
    return mostLikely(candidates, authorization_code)
  }

  #byCode(card: CardState, { authorization_code }: PurchaseReference): TransactionRow | null {
    if (authorization_code === null) return null
    const candidates = this.#rowsOf(card).filter(
      (row) => row.type === 'authorization' && row.authorization_code === authorization_code,
    )
    return mostLikely(candidates, authorization_code)
  }
}

const isAuthorizationRow = (row: TransactionRow): boolean =>
  row.authorization_id === null || row.authorization_id === row.id

/** No field is reliable alone. Prefers approvals, then a matching code, open ones, the newest. */
function mostLikely(rows: readonly TransactionRow[], code: string | null): TransactionRow | null {
  const score = (row: TransactionRow) =>
    (row.type === 'authorization' ? 8 : row.type === 'capture' ? 4 : 0) +
    (code !== null && row.authorization_code === code ? 2 : 0) +
    (row.open_micros > 0n ? 1 : 0)
  const ranked = rows.toSorted((a, b) => score(b) - score(a) || (a.id < b.id ? 1 : -1))
  return ranked[0] ?? null
}
