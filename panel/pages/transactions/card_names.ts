import { useOperationQuery } from '#panel/queries.ts'
import { cardLabel } from '#panel/ui/card_face.tsx'

type CardNames = {
  /** The title of a card; its ID if the card is not among the first 100. */
  of(id: string): string
  options: readonly (readonly [id: string, title: string])[]
}

export function useCardNames(): CardNames {
  const cards = useOperationQuery('list_cards', { limit: 100 }).data?.data ?? []
  const options = cards.map((card) => [card.id, cardLabel(card)] as const)
  const titles = new Map(options)
  return { of: (id) => titles.get(id) ?? id, options }
}
