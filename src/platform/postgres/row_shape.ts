import pg from 'pg'

type Parse = (text: string) => unknown

/** The columns of a result, and how their text becomes a value. */
export type RowShape = {
  names: readonly string[]
  parsers: readonly Parse[]
  /** Copied for each row, so that all rows of a statement have one hidden class. */
  empty: Readonly<Record<string, null>>
}

type Field = { name: string; dataTypeID: number }

export function shapeOf({ fields }: { fields: readonly Field[] }): RowShape {
  return {
    names: fields.map(({ name }) => name),
    parsers: fields.map(({ dataTypeID }) => pg.types.getTypeParser(dataTypeID, 'text') as Parse),
    empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
  }
}

export function readRow(
  { names, parsers, empty }: RowShape,
  texts: readonly (string | null)[],
): Record<string, unknown> {
  const row: Record<string, unknown> = { ...empty }
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at] as string | null
    if (text !== null) row[names[at] as string] = (parsers[at] as Parse)(text)
  }
  return row
}
