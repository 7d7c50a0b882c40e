import type { TSchema } from 'typebox'
import { inputLocation, type OperationShape, pathNames } from '#contract/operation.ts'
import type { OperationName } from '#contract/operations.ts'
import { html, type Markup } from '#doors/markup.ts'
import { request_examples } from '#doors/site/request_examples.ts'
import { exampleOf } from './example_of.ts'
import { codeBlock } from './markdown.ts'

type CallExampleOptions = { base: string }

/** The same call with curl, the TypeScript client and an MCP tool. */
export function callExamples(shape: OperationShape, { base }: CallExampleOptions): Markup {
  const input = exampleInput(shape)
  const examples: readonly [string, string, string][] = [
    ['curl', 'sh', curlExample(shape, input, base)],
    ['TypeScript', 'ts', clientExample(shape, input)],
    ['Agent tool', 'json', toolCallExample(shape, input)],
  ]
  return html`<div class="examples">${examples.map(
    ([title, language, text]) => html`<figure><figcaption>${title}</figcaption>
${codeBlock(language, text)}</figure>`,
  )}</div>`
}

type Input = Record<string, unknown>

/** The hand-written body example, with example values for path and required query parameters. */
function exampleInput({ name, path, input, method }: OperationShape): Input {
  const properties: Readonly<Record<string, TSchema>> = input.properties
  const ids = pathNames(path).map((each) => [each, exampleOf(properties[each] ?? {})])
  const [body = {}] = Object.values(request_examples[name as OperationName] ?? {})
  const { required = [] } = input as { required?: string[] }
  const required_names = method === 'GET' ? required : []
  const query = required_names.map((each) => [each, exampleOf(properties[each] ?? {})])
  return { ...Object.fromEntries(ids), ...Object.fromEntries(query), ...body }
}

function splitPathParameters(
  { path }: OperationShape,
  input: Input,
): { path: string; rest: Input } {
  const names = pathNames(path)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(input[name]))
  const rest = Object.entries(input).filter(([name]) => !names.includes(name))
  return { path: filled, rest: Object.fromEntries(rest) }
}

const pretty = (value: unknown) => JSON.stringify(value, null, 2)

function curlExample(shape: OperationShape, input: Input, base: string): string {
  const { path, rest } = splitPathParameters(shape, input)
  const isBody = inputLocation(shape) === 'body'
  const query = isBody ? '' : new URLSearchParams(rest as Record<string, string>).toString()
  const lines = [`curl ${quoteUrl(`${base}${path}${query === '' ? '' : `?${query}`}`)}`]
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

const quoteUrl = (url: string) => (/[?&]/.test(url) ? `'${url}'` : url)

function clientExample({ name, output }: OperationShape, input: Input): string {
  const argument = Object.keys(input).length === 0 ? '' : objectText(input)
  const isList = 'properties' in output && 'next_cursor' in (output.properties as object)
  if (!isList) return `const response = await client.${name}(${argument})`
  return `for await (const row of client.${name}(${argument})) {\n  console.log(row)\n}`
}

/** JSON as a TypeScript literal: unquoted names and single quotes. */
function objectText(input: Input): string {
  return pretty(input)
    .replaceAll(/^( *)"(\w+)":/gm, '$1$2:')
    .replaceAll(/"((?:[^"\\']|\\.)*)"/g, "'$1'")
}

function toolCallExample({ name }: OperationShape, input: Input): string {
  const params = { name, arguments: input }
  return pretty({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
}
