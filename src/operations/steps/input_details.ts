import type { ProblemDetail } from '#contract/problem.ts'

/** A validation error of the schema checker. */
export type SchemaError = {
  keyword: string
  schemaPath: string
  instancePath: string
  params: Record<string, unknown>
  message: string
}

/** Turns validation errors into one message per field, the most specific one. */
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
      unknown_fields.set(field, { field, message: 'is not recognized' })
    }
    for (const name of namesIn(error, 'requiredProperties')) {
      const field = join(at, name)
      details.set(field, { field, message: 'is required' })
    }
  }
  for (const error of errors) {
    const field = fieldOf(error.instancePath)
    if (COVERED.has(error.keyword) || unknown_fields.has(field) || details.has(field)) continue
    details.set(field, { field, message: messageFor(error) })
  }
  return { unknown_fields: [...unknown_fields.values()], details: [...details.values()] }
}

/** Reported by field name above, or through the errors of their alternatives. */
const COVERED = new Set(['additionalProperties', 'required', 'boolean', 'anyOf'])

function messageFor({ keyword, params, message }: SchemaError): string {
  if (keyword === 'enum')
    return `must be one of ${(params['allowedValues'] as string[]).join(', ')}`
  if (keyword === 'pattern') return patternMessage(String(params['pattern']))
  if (keyword === 'format') return 'must be an ISO 8601 date and time'
  return message
}

/** The pattern of an `EnumList`: its values, separated by commas. */
const ENUM_LIST = /^\^\(([\w.|]+)\)\(,\(\1\)\)\*\$$/

function patternMessage(pattern: string): string {
  const values = ENUM_LIST.exec(pattern)?.[1]?.split('|')
  return values === undefined
    ? 'has an invalid format'
    : `must be one or more of ${values.join(', ')}, separated by commas`
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
