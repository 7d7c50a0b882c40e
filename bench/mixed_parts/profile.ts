import type { Profiler } from 'node:inspector'

/** The part of the service that a source file belongs to; the first match counts. */
const parts: readonly (readonly [name: string, path: RegExp])[] = [
  ['codec', /\/(iso8583|doors\/card_host)\//],
  ['decision', /\/domain\/(authorizations|ledger|cards|budgets)\//],
  ['webhooks', /\/domain\/(webhooks|events)\/|undici/],
  ['database client', /\/node_modules\/pg|\/platform\/postgres\//],
  ['HTTP', /\/(doors|operations|contract)\/|fastify|node:_http|internal\/http/],
]

/** Microseconds of CPU by part, from the self time of each function. */
export function partsOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile) {
  const part_of = new Map(nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]))
  const sums: Record<string, number> = {}
  for (const [at, id] of samples.entries()) {
    const part = part_of.get(id)
    if (part === undefined || part === null) continue
    sums[part] = (sums[part] ?? 0) + (timeDeltas[at] ?? 0)
  }
  return sums
}

function partOf({ functionName, url }: { functionName: string; url: string }): string | null {
  if (functionName === '(idle)' || functionName === '(root)') return null
  if (functionName === '(garbage collector)') return 'garbage collection'
  return parts.find(([, path]) => path.test(url))?.[0] ?? 'sockets, streams and the rest'
}
