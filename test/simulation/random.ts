import { seeded } from '#test/support/storm.ts'

/** Choices that only the seed decides. */
export type Random = {
  below(limit: number): number
  between(least: number, most: number): number
  chance(percent: number): boolean
  pick<Item>(items: readonly Item[]): Item
  /** One of the names, by its weight; null if all weights are 0. */
  weighted<Name extends string>(weights: Readonly<Partial<Record<Name, number>>>): Name | null
}

export function randomOf(seed: number, stream: number): Random {
  const below = seeded(Math.imul(seed, 7_919) + Math.imul(stream + 1, 104_729))
  const random: Random = {
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (percent) => below(100) < percent,
    pick: (items) => {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('picked from an empty list')
      return item
    },
    weighted: <Name extends string>(weights: Readonly<Partial<Record<Name, number>>>) => {
      const entries = Object.entries(weights) as [Name, number][]
      const total = entries.reduce((sum, [, weight]) => sum + weight, 0)
      if (total === 0) return null
      let left = below(total)
      for (const [name, weight] of entries) {
        left -= weight
        if (left < 0) return name
      }
      return null
    },
  }
  return random
}
