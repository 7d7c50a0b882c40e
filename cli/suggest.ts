const SUGGESTIONS_MAX = 3

/** The names that the typed word probably means, best first. */
export function suggest(typed: string, names: readonly string[]): string[] {
  const word = partsOf(typed)
  return [...new Set(names)]
    .map((name) => {
      // "transactions" is list_transactions rather than get_transaction.
      const is_spelled = name.includes(typed) ? 0 : 0.5
      return { name, distance: distanceTo(word, partsOf(name)) + is_spelled }
    })
    .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.distance - b.distance || a.name.length - b.name.length)
    .filter(({ distance }, _, [best]) => distance <= (best?.distance ?? 0) + 1)
    .slice(0, SUGGESTIONS_MAX)
    .map(({ name }) => name)
}

/** ` Did you mean a, b or c?`, or nothing. */
export function didYouMean(names: readonly string[]): string {
  if (names.length === 0) return ''
  const others = names.slice(0, -1).join(', ')
  return ` Did you mean ${others === '' ? '' : `${others} or `}${names.at(-1)}?`
}

/** `--List-Cards` and `list_card` have the same parts: plurals count as singulars. */
const partsOf = (name: string): string[] =>
  name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== '')
    .map((part) => (part.length > 3 ? part.replace(/s$/, '') : part))

/** Equal parts in any order are nearest, then names that contain the word, then misspellings. */
function distanceTo(word: readonly string[], name: readonly string[]): number {
  const isContained = word.every((part) => name.includes(part))
  if (isContained) return name.length === word.length ? 0 : 1
  const whole = editDistance(word.join(''), name.join(''))
  const limit = Math.max(1, Math.floor(word.join('').length / 3))
  if (whole <= limit) return whole + 1
  const single = word.length === 1 ? word[0] : undefined
  if (single === undefined || single.length < 3) return Number.POSITIVE_INFINITY
  const nearest = Math.min(...name.map((part) => editDistance(single, part)))
  return nearest <= Math.min(2, limit) ? nearest + 2 : Number.POSITIVE_INFINITY
}

/** Inserted, missing, changed and swapped neighboring letters each count as one. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const cell = (up: number, left: number) => rows[row - up]?.[column - left] ?? 0
      const isSame = a[row - 1] === b[column - 1]
      const isSwapped = row > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current[column] = Math.min(
        cell(1, 0) + 1,
        (current[column - 1] ?? 0) + 1,
        cell(1, 1) + (isSame ? 0 : 1),
        isSwapped && column > 1 ? cell(2, 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    rows.push(current)
  }
  return rows[a.length]?.[b.length] ?? 0
}
