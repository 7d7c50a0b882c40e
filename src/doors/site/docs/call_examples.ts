import type { TSchema } from 'typebox'
import { inputLocation, type OperationShape, pathNames } from '#contract/operation.ts'
import type { OperationName } from '#contract/operations.ts'
import { html, type Markup } from '#doors/markup.ts'
import { request_examples } from '#doors/site/request_examples.ts'
import { exampleOf } from './example_of.ts'
import { codeBlock } from './markdown.ts'

type Given = { base: string }

/** One call, told three times: for a shell, for a program, for an agent. */
export function callExamples(shape: OperationShape, { base }: Given): Markup {
  const input = inputOf(shape)
  const told: readonly [string, string, string][] = [
    ['curl', 'sh', curlOf(shape, input, base)],
    ['TypeScript', 'ts', clientOf(shape, input)],
    ['Agent tool', 'json', toolOf(shape, input)],
  ]
  return html`<div class="told">${told.map(
    ([title, language, text]) => html`<figure><figcaption>${title}</figcaption>
${codeBlock(language, text)}</figure>`,
  )}</div>`
}

type Input = Record<string, unknown>

/** What a person would send: the written example, and the ids that stand in the path. */
function inputOf({ name, path, input, method }: OperationShape): Input {
  const properties: Readonly<Record<string, TSchema>> = input.properties
  const ids = pathNames(path).map((each) => [each, exampleOf(properties[each] ?? {})])
  const [body = {}] = Object.values(request_examples[name as OperationName] ?? {})
  const { required = [] } = input as { required?: string[] }
  const asked = method === 'GET' ? required : []
  const query = asked.map((each) => [each, exampleOf(properties[each] ?? {})])
  return { ...Object.fromEntries(ids), ...Object.fromEntries(query), ...body }
}

function split({ path }: OperationShape, input: Input): { path: string; rest: Input } {
  const names = pathNames(path)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(input[name]))
  const rest = Object.entries(input).filter(([name]) => !names.includes(name))
  return { path: filled, rest: Object.fromEntries(rest) }
}

const pretty = (value: unknown) => JSON.stringify(value, null, 2)

function curlOf(shape: OperationShape, input: Input, base: string): string {
  const { path, rest } = split(shape, input)
  const isBody = inputLocation(shape) === 'body'
  const query = isBody ? '' : new URLSearchParams(rest as Record<string, string>).toString()
  const lines = [`curl ${quoted(`${base}${path}${query === '' ? '' : `?${query}`}`)}`]
  const hasBody = isBody && Object.keys(rest).length > 0
  if (shape.method !== 'GET' && !(shape.method === 'POST' && hasBody)) {
    lines[0] = `curl -X ${shape.method} ${lines[0]?.slice('curl '.length)}`
  }
  if (shape.access !== 'anyone') lines.push(`-H "Authorization: Bearer $FLORIN_KEY"`)
  if (shape.method === 'POST' || shape.method === 'PATCH') {
    lines.push(`-H "Idempotency-Key: $(uuidgen)"`)
  }
  if (hasBody) lines.push("-H 'Content-Type: application/json'", `-d '${pretty(rest)}'`)
  return lines.join(' \\\n  ')
}

const quoted = (address: string) => (/[?&]/.test(address) ? `'${address}'` : address)

function clientOf({ name, output }: OperationShape, input: Input): string {
  const words = Object.keys(input).length === 0 ? '' : objectText(input)
  const isList = 'properties' in output && 'next_cursor' in (output.properties as object)
  if (!isList) return `const answer = await client.${name}(${words})`
  return `for await (const row of client.${name}(${words})) {\n  console.log(row)\n}`
}

/** As a program would write it: names without quotes, words in single ones. */
function objectText(input: Input): string {
  return pretty(input)
    .replaceAll(/^( *)"(\w+)":/gm, '$1$2:')
    .replaceAll(/"((?:[^"\\']|\\.)*)"/g, "'$1'")
}

function toolOf({ name }: OperationShape, input: Input): string {
  const params = { name, arguments: input }
  return pretty({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
}
