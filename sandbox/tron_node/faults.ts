/**
 * Simulated faults of the node. A fault occurs `times` times (default 1); `path` limits it to
 * requests whose path contains that text.
 */
export type Fault = { times?: number; path?: string } & (
  | { kind: 'delay'; delay_ms: number }
  | { kind: 'status'; status: number }
  | { kind: 'garbage' }
  | { kind: 'throttled' }
  /** The request is processed, but its response is lost. */
  | { kind: 'lost_answer' }
  /** Shows the chain as it was that many blocks ago, like a lagging node. */
  | { kind: 'lagging_head'; blocks: number }
  /** eth_getLogs returns nothing and no error. */
  | { kind: 'lost_logs' }
  /** A broadcast is refused with this code, such as SERVER_BUSY. */
  | { kind: 'refused_broadcast'; code: string }
  /** The next token transfer to this address, or the one with this txid, is mined and fails. */
  | ({ kind: 'reverted_transfer' } & ({ to: string } | { txid: string }))
  /** The next token transfer to this address succeeds, but one percent less arrives. */
  | { kind: 'taxed_transfer'; to: string }
)
export type FaultKind = Fault['kind']

type Active = { fault: Fault; left: number }

export class Faults {
  #active: Active[] = []

  /** Returns a function that removes the fault. */
  add(fault: Fault): () => void {
    const active = { fault, left: fault.times ?? 1 }
    this.#active.push(active)
    return () => {
      this.#active = this.#active.filter((one) => one !== active)
    }
  }

  clear(): void {
    this.#active = []
  }

  /** Returns the first fault of this kind that applies and counts its use. */
  take<Kind extends FaultKind>(
    kind: Kind,
    applies: (fault: Extract<Fault, { kind: Kind }>) => boolean,
  ): Extract<Fault, { kind: Kind }> | null {
    for (const active of this.#active) {
      const { fault } = active
      if (!isOfKind(fault, kind) || !applies(fault)) continue
      active.left -= 1
      if (active.left <= 0) this.#active = this.#active.filter((one) => one !== active)
      return fault
    }
    return null
  }

  takeOnPath<Kind extends FaultKind>(
    kind: Kind,
    path: string,
  ): Extract<Fault, { kind: Kind }> | null {
    return this.take(kind, (fault) => path.includes(fault.path ?? ''))
  }
}

function isOfKind<Kind extends FaultKind>(
  fault: Fault,
  kind: Kind,
): fault is Extract<Fault, { kind: Kind }> {
  return fault.kind === kind
}
