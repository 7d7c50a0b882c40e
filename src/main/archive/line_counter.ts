import type { ArchiveFile } from './manifest.ts'

type Totals = Pick<ArchiveFile, 'rows' | 'amount_micros' | 'first_id' | 'last_id'>

/** JSON.parse would round an amount beyond nine billion dollars. */
const AMOUNT = /(?<!\\)"amount_micros":(\d+)/
const ID = /(?<!\\)"id":"([^"]+)"/

/** Counts the rows of a file, adds up their amounts, and finds the first and last ID. */
export class LineCounter {
  #rows = 0
  #amount_micros = 0n
  #first_id: string | null = null
  #last_id: string | null = null

  add(line: string): void {
    const id = ID.exec(line)?.[1]
    const amount = AMOUNT.exec(line)?.[1]
    if (id === undefined || amount === undefined) throw new Error('a line is not a row')
    this.#rows += 1
    this.#amount_micros += BigInt(amount)
    if (this.#first_id === null || id < this.#first_id) this.#first_id = id
    if (this.#last_id === null || id > this.#last_id) this.#last_id = id
  }

  totals(): Totals {
    return {
      rows: this.#rows,
      amount_micros: this.#amount_micros.toString(),
      first_id: this.#first_id,
      last_id: this.#last_id,
    }
  }
}
