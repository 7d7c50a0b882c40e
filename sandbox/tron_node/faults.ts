/**
 * How the node misbehaves when told to. A fault happens `times` times (once unless said) and then
 * is over; `path` limits it to calls whose path contains that text.
 */
export type Fault = { times?: number; path?: string } & (
  | { kind: 'delay'; delay_ms: number }
  | { kind: 'status'; status: number }
  | { kind: 'garbage' }
  | { kind: 'throttled' }
  /** The call is carried out and its answer never arrives. */
  | { kind: 'lost_answer' }
  /** Shows the chain as it was so many blocks ago, as a node behind a load balancer does. */
  | { kind: 'lagging_head'; blocks: number }
  /** eth_getLogs finds nothing, without an error. */
  | { kind: 'lost_logs' }
  /** A broadcast is refused with this code, such as SERVER_BUSY. */
  | { kind: 'refused_broadcast'; code: string }
  /** The next asset transfer to this address, or the one with this txid, is mined and fails. */
  | ({ kind: 'reverted_transfer' } & ({ to: string } | { txid: string }))
)
export type FaultKind = Fault['kind']

type Active = { fault: Fault; left: number }

export class Faults {
  #active: Active[] = []

  /** Answers a function that ends the fault early. */
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

  /** The first fault of this kind that applies, counted as having happened. */
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
