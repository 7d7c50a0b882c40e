import { useOperationQuery } from '#panel/queries.ts'
import { cardTitle } from '#panel/ui/card_face.tsx'

type CardNames = {
  /** The title of a card; its ID if the card is not among the first 100. */
  of(id: string): string
  options: readonly (readonly [id: string, title: string])[]
}

export function useCardNames(): CardNames {
  const cards = useOperationQuery('list_cards', { limit: 100 }).data?.data ?? []
  const options = cards.map((card) => {
    const title = cardTitle(card)
    return [card.id, title.endsWith(card.last4) ? title : `${title} ·· ${card.last4}`] as const
  })
  const titles = new Map(options)
  return { of: (id) => titles.get(id) ?? id, options }
}
