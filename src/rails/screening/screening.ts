import type { Micros } from '#kernel/money.ts'

/** Screens an address against the operator's list. */
export type AddressScreener = {
  screen(request: ScreeningRequest): Promise<Screening>
  /** Reads the list again and returns its new version. */
  reload?(): Promise<Omit<Screening, 'decision'>>
}

type ScreeningRequest = {
  chain: string
  /** In the chain's own format. */
  address: string
  direction: 'in' | 'out'
  amount_micros: Micros
}

export type Screening = {
  decision: 'allow' | 'review' | 'block'
  source: string
  /** The version of the list that decided. */
  list_version: string
}

/** Nobody can say if an address is blocked, so nothing is sent to it or credited from it. */
export class ScreeningUnavailable extends Error {}

/** Allows everything; used if no list is configured. */
export const noScreener: AddressScreener = {
  screen: async () => ({ decision: 'allow', source: 'none', list_version: '' }),
}
