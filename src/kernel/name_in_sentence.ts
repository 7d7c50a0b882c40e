const LENGTH_MAX = 60

/**
 * A name that its owner or an app has chosen, as one short line of a sentence or an email: line
 * breaks and invisible characters would change how the rest reads. Null if nothing is visible.
 */
export function nameInSentence(name: string | null): string | null {
  const line = (name ?? '').replaceAll(/[\p{C}\s]+/gu, ' ').trim()
  if (line === '') return null
  // By code points: half of an emoji would be stored as a replacement character.
  const letters = [...line]
  if (letters.length <= LENGTH_MAX) return line
  return `${letters.slice(0, LENGTH_MAX - 1).join('')}…`
}
