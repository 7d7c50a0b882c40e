import { inputLocation, type Operation } from '#contract/operation.ts'
import { pipeline_operations } from '#contract/operator/operations.ts'
import { Problem } from '#contract/problem.ts'
import { endPageBySize, type PageInput, type PageOf, pageCursor } from '#platform/postgres/page.ts'
import type { Call, Response } from './call.ts'
import { givenInput } from './cells.ts'
import { combined } from './combine.ts'
import type { Cells, Runtime } from './runtime.ts'

type InvokeIn = (runtime: Runtime, call: Call) => Promise<Response>

/**
 * A call of an operator that concerns all cells: a list, a sum, or a change everywhere. Null for
 * every other call. A cell that cannot respond fails the call: a list without it would look
 * complete.
 */
export async function fanOut(
  cells: Cells,
  call: Call,
  invokeIn: InvokeIn,
): Promise<Response | null> {
  const operation: Operation = pipeline_operations[call.operation]
  if (operation.access === 'anyone' || !('operator' in operation.access)) return null
  if (operation.name === 'operator_set_kill_switch') return setKillSwitch(cells, call, invokeIn)
  if (operation.name === 'operator_announce_maintenance') return announce(cells, call, invokeIn)
  const combine = combined[operation.name]
  if (combine !== undefined) {
    return combineBodies(await invokeInAll(cells, call, invokeIn), combine)
  }
  const input = await givenInput(call)
  if (operation.name === 'operator_list_actions') {
    return mergeActions(input, await invokeInAll(cells, call, invokeIn))
  }
  if (!isPaged(operation)) return null
  // The rows of one object or account are all in its cell.
  if ('id' in input || 'account_id' in input) return null
  return mergePages(operation.name, input, await invokeInAll(cells, call, invokeIn))
}

const isPaged = (operation: Operation) =>
  inputLocation(operation) === 'query' && 'cursor' in operation.input.properties

/**
 * Cell 0 keeps the switch, and the others take it over. One that can't be reached keeps no other
 * from the change, but the operator learns that it is not made everywhere yet.
 */
async function setKillSwitch(cells: Cells, call: Call, invokeIn: InvokeIn): Promise<Response> {
  const changed = await invokeIn(cells.home, partOf(call, cells.home, cells))
  if (changed.status >= 300 || (await cells.takeOverKillSwitches())) return changed
  const message =
    'The switch is changed, but not all cells respond. The others take the change over before ' +
    'they accept calls and card messages again.'
  throw new Problem('service_unavailable', message, { retry_after_s: 3 })
}

/** Cell 0 records the announcement, so it is made there first. */
async function announce(cells: Cells, call: Call, invokeIn: InvokeIn): Promise<Response> {
  const recorded = await invokeIn(cells.home, partOf(call, cells.home, cells))
  if (recorded.status >= 300) return recorded
  const others = cells.started.filter((runtime) => runtime !== cells.home)
  const changed = others.map((runtime) => invokeIn(runtime, partOf(call, runtime, cells)))
  const responses = [recorded, ...(await Promise.all(changed))]
  if (responses.length < cells.all.length) {
    const message = 'Another cell has just started. Repeat the call.'
    throw new Problem('service_unavailable', message, { retry_after_s: 1 })
  }
  return firstOrFailure(responses)
}

function invokeInAll(cells: Cells, call: Call, invokeIn: InvokeIn): Promise<Response[]> {
  const parts = cells.all.map((runtime) => invokeIn(runtime, partOf(call, runtime, cells)))
  return Promise.all(parts)
}

/** Cell 0 counts the call against the operator's rate limit and records it, for all of them. */
const partOf = (call: Call, runtime: Runtime, { home }: Cells): Call => ({
  ...call,
  request: { ...call.request },
  is_part: runtime !== home,
})

function firstOrFailure(responses: readonly Response[]): Response {
  const response = responses.find(({ status }) => status >= 300) ?? responses[0]
  if (response === undefined) throw new Error('there is at least one cell')
  return response
}

function combineBodies(
  responses: readonly Response[],
  combine: (bodies: readonly never[]) => object,
): Response {
  const first = firstOrFailure(responses)
  if (first.status >= 300) return first
  const bodies = responses.map(({ body }) => JSON.parse(body) as never)
  return { ...first, body: JSON.stringify(combine(bodies)) }
}

type Row = { id: string }

/**
 * IDs of all cells sort by time, so one position in the order of IDs serves all of them. A page
 * with long texts ends early: rows behind its end must wait for those of its cell that it lacks.
 */
function mergePages(operation: string, input: PageInput, responses: readonly Response[]): Response {
  const first = firstOrFailure(responses)
  if (first.status >= 300) return first
  const pages = responses.map(({ body }) => JSON.parse(body) as PageOf<Row>)
  const isBefore = (a: string, b: string) => (input.order === 'asc' ? a < b : a > b)
  const ends = pages.filter((page) => page.has_more).flatMap((page) => page.data.at(-1)?.id ?? [])
  const rows = pages
    .flatMap(({ data }) => data)
    .filter(({ id }) => !ends.some((end) => isBefore(end, id)))
    .sort((a, b) => (a.id === b.id ? 0 : isBefore(a.id, b.id) ? -1 : 1))
  const { data, has_more } = cut(rows, input)
  const isMore = has_more || ends.length > 0
  const last = data.at(-1)
  const next_cursor = isMore && last ? pageCursor({ operation, input, id: last.id }) : null
  const page = { data, has_more: isMore, next_cursor }
  const shown = endPageBySize(page, { operation, input }, bytesOf(data))
  return { ...first, body: JSON.stringify(shown) }
}

const bytesOf = (rows: readonly Row[]): ReadonlyMap<string, number> =>
  new Map(rows.map((row) => [row.id, Buffer.byteLength(JSON.stringify(row))]))

/** Numbers of actions begin with the time, like IDs; those from before that are shorter. */
function mergeActions(input: PageInput, responses: readonly Response[]): Response {
  const newest = (rows: readonly Row[]) =>
    rows.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? 1 : -1))
  return combineBodies(responses, (bodies: readonly { data: readonly Row[] }[]) => ({
    data: cut(newest(bodies.flatMap(({ data }) => data)), input).data,
  }))
}

const DEFAULT_LIMIT = 25

function cut(rows: readonly Row[], { limit = DEFAULT_LIMIT }: PageInput) {
  return { data: rows.slice(0, Number(limit)), has_more: rows.length > Number(limit) }
}
