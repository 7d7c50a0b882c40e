import type { ProblemDetail } from '#contract/problem.ts'

/** What the schema checker says of one failure. */
export type SchemaError = {
  keyword: string
  schemaPath: string
  instancePath: string
  params: Record<string, unknown>
  message: string
}

/** The checker's findings as sentences about fields: one for each field, the telling one. */
export function detailsFrom(errors: readonly SchemaError[]): {
  unknown_fields: ProblemDetail[]
  details: ProblemDetail[]
} {
  const unknown_fields = new Map<string, ProblemDetail>()
  const details = new Map<string, ProblemDetail>()
  for (const error of errors) {
    const at = fieldOf(error.instancePath)
    for (const name of namesIn(error, 'additionalProperties')) {
      const field = join(at, name)
      unknown_fields.set(field, { field, message: 'is not known here' })
    }
    for (const name of namesIn(error, 'requiredProperties')) {
      const field = join(at, name)
      details.set(field, { field, message: 'is required' })
    }
  }
  for (const error of errors) {
    const field = fieldOf(error.instancePath)
    if (SILENT.has(error.keyword) || unknown_fields.has(field) || details.has(field)) continue
    details.set(field, { field, message: sentenceFor(error) })
  }
  return { unknown_fields: [...unknown_fields.values()], details: [...details.values()] }
}

/** Told by their names above, or by the failures of their alternatives. */
const SILENT = new Set(['additionalProperties', 'required', 'boolean', 'anyOf'])

function sentenceFor({ keyword, params, message }: SchemaError): string {
  if (keyword === 'enum')
    return `must be one of ${(params['allowedValues'] as string[]).join(', ')}`
  if (keyword === 'pattern') return 'does not have the right form'
  if (keyword === 'format') return `must be a ${String(params['format'])}`
  return message
}

function namesIn(error: SchemaError, param: string): string[] {
  const names = error.params[param]
  return Array.isArray(names) ? names.map(String) : []
}

function fieldOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
}

function join(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`
}
