import { seeded } from '#test/support/storm.ts'

/** Seeded choices. */
export class Choices {
  readonly below: (limit: number) => number

  constructor(seed: number) {
    this.below = seeded(seed)
  }

  percent(share: number): boolean {
    return this.below(100) < share
  }

  pick<Item>(items: readonly Item[]): Item | undefined {
    return items[this.below(items.length)]
  }

  /** One of at least one. */
  of<Item>(first: Item, ...others: Item[]): Item {
    return this.pick([first, ...others]) ?? first
  }

  /** By weight; a weight of zero is never chosen. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[]
    let total = 0
    for (const name of names) total += weights[name]
    let left = this.below(total)
    for (const name of names) {
      left -= weights[name]
      if (left < 0) return name
    }
    throw new Error('all weights are zero')
  }
}
