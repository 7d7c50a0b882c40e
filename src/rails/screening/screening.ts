import type { Micros } from '#kernel/money.ts'

/** Asks whether we may deal with an address. The list behind it is the operator's choice. */
export type AddressScreener = {
  screen(question: ScreeningQuestion): Promise<Screening>
  /** Reads the list again now, and says which state of it answers from here on. */
  reload?(): Promise<Omit<Screening, 'decision'>>
}

export type ScreeningQuestion = {
  chain: string
  /** As its chain spells it. */
  address: string
  direction: 'in' | 'out'
  amount_micros: Micros
}

export type Screening = {
  decision: 'allow' | 'review' | 'block'
  source: string
  /** Which state of the list said so. */
  list_version: string
}

/** Where no list is configured there is nobody to ask. */
export const noScreener: AddressScreener = {
  screen: async () => ({ decision: 'allow', source: 'none', list_version: '' }),
}
