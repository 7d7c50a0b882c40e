import { type Route, routes } from '#contract/routes.ts'

export type Answer = {
  status: number
  body: Record<string, unknown>
  request_id: string | null
  /** How many attempts before this one got no answer or a system failure. */
  lost: number
}

export type Call = {
  name: string
  method: string
  path: string
  body?: object | undefined
  bearer?: string | undefined
  headers?: Record<string, string>
}

export type OperationName = keyof typeof routes
export type Input = Readonly<Record<string, unknown>>

/** The REST request of an operation. */
export function restCall(name: OperationName, input: Input, bearer?: string): Call {
  const route: Route = routes[name]
  const rest = { ...input }
  const path = route.path.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = rest[field]
    delete rest[field]
    return encodeURIComponent(String(value))
  })
  const isQuery = (route.method === 'GET' || route.method === 'DELETE') && route.carries !== 'body'
  const fields = Object.entries(rest).filter(([, value]) => value !== undefined)
  if (!isQuery) {
    const hasBody = fields.length > 0
    return {
      name,
      method: route.method,
      path: `/v1${path}`,
      body: hasBody ? Object.fromEntries(fields) : undefined,
      bearer: bearer || undefined,
    }
  }
  const query = new URLSearchParams(
    fields.map(([key, value]) => [key, String(value)] as [string, string]),
  )
  const tail = fields.length > 0 ? `?${query}` : ''
  return { name, method: route.method, path: `/v1${path}${tail}`, bearer: bearer || undefined }
}
