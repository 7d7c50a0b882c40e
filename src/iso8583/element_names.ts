import { elements_1987 } from './spec.ts'

/** Names by element number, as get_auth_details returns them in `named`. */
export const element_names: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(elements_1987).map(([element, [name]]) => [element, name]),
)

export function nameFields(fields: Readonly<Record<number, string>>): Record<string, string> {
  const named: Record<string, string> = {}
  for (const [element, value] of Object.entries(fields)) {
    named[element_names[Number(element)] ?? `element_${element}`] = value
  }
  return named
}
