import type { TSchema } from 'typebox'
import { inputLocation, type OperationShape, pathNames } from '#contract/operation.ts'
import type { OperationName } from '#contract/operations.ts'
import { html, type Markup } from '#doors/markup.ts'
import { request_examples } from '#doors/site/request_examples.ts'
import { exampleOf } from './example_of.ts'
import { codeBlock } from './markdown.ts'

type CallExampleOptions = { base: string }

/** The same call in each language. With JavaScript, they are tabs. */
export function callExamples(shape: OperationShape, { base }: CallExampleOptions): Markup {
  return html`<div class="examples">${examplesOf(shape, base).map(
    ([title, language, text]) => html`<figure><figcaption>${title}</figcaption>
${codeBlock(language, text)}</figure>`,
  )}</div>`
}

export function examplesOf(shape: OperationShape, base: string): [string, string, string][] {
  const input = exampleInput(shape)
  return [
    ['curl', 'sh', curlExample(shape, input, base)],
    ['Node', 'ts', clientExample(shape, input)],
    ['Python', 'python', pythonExample(shape, input, base)],
    ['CLI', 'sh', commandExample(shape, input)],
    ['MCP', 'json', toolCallExample(shape, input)],
  ]
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

/** The URL with its path parameters, and what is left for query or body. */
function requestOf(shape: OperationShape, input: Input, base: string) {
  const names = pathNames(shape.path)
  const path = shape.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(input[name]))
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)))
  const isBody = inputLocation(shape) === 'body'
  const query = isBody ? '' : new URLSearchParams(rest as Record<string, string>).toString()
  return {
    url: `${base}${path}${query === '' ? '' : `?${query}`}`,
    body: isBody && Object.keys(rest).length > 0 ? rest : null,
    hasKey: shape.method === 'POST' || shape.method === 'PATCH',
    isAnonymous: shape.access === 'anyone',
  }
}

const pretty = (value: unknown) => JSON.stringify(value, null, 2)

function curlExample(shape: OperationShape, input: Input, base: string): string {
  const { url, body, hasKey, isAnonymous } = requestOf(shape, input, base)
  const lines = [`curl ${quoteForShell(url)}`]
  if (shape.method !== 'GET' && !(shape.method === 'POST' && body !== null)) {
    lines[0] = `curl -X ${shape.method} ${quoteForShell(url)}`
  }
  if (!isAnonymous) lines.push(`-H "Authorization: Bearer $FLORIN_KEY"`)
  if (hasKey) lines.push(`-H "Idempotency-Key: $(uuidgen)"`)
  if (body !== null) {
    lines.push("-H 'Content-Type: application/json'", `-d '${escapeQuote(pretty(body))}'`)
  }
  return lines.join(' \\\n  ')
}

const escapeQuote = (text: string) => text.replaceAll("'", String.raw`'\''`)
const quoteForShell = (text: string) =>
  /^[\w.,@:/+-]+$/.test(text) ? text : `'${escapeQuote(text)}'`

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

function pythonExample(shape: OperationShape, input: Input, base: string): string {
  const { url, body, hasKey, isAnonymous } = requestOf(shape, input, base)
  const headers = [
    ...(isAnonymous ? [] : [`"Authorization": f"Bearer {os.environ['FLORIN_KEY']}"`]),
    ...(hasKey ? ['"Idempotency-Key": str(uuid.uuid4())'] : []),
  ]
  const modules = [...(isAnonymous ? [] : ['os']), ...(hasKey ? ['uuid'] : []), 'requests']
  const lines = [
    `import ${modules.join(', ')}`,
    '',
    `response = requests.${shape.method.toLowerCase()}(`,
    `    ${JSON.stringify(url)},`,
    ...(headers.length === 0
      ? []
      : ['    headers={', ...headers.map((each) => `        ${each},`), '    },']),
    ...(body === null ? [] : [`    json=${pythonText(body)},`]),
    ')',
    'response.raise_for_status()',
    ...(shape.status === 204 ? [] : ['print(response.json())']),
  ]
  return lines.join('\n')
}

/** JSON as a Python literal, indented as an argument. */
function pythonText(body: Input): string {
  const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }
  return JSON.stringify(body, null, 4)
    .replaceAll(/(?<=[:[,]\s*)(true|false|null)\b/g, (word) => words[word] ?? word)
    .replaceAll('\n', '\n    ')
}

function commandExample({ name, path }: OperationShape, input: Input): string {
  const ids = pathNames(path)
  const flags = Object.entries(input)
    .filter(([field]) => !ids.includes(field))
    .flatMap(([field, value]) => flagsFor(field, value))
  const command = ['florin', name, ...ids.map((id) => String(input[id]))].join(' ')
  return [command, ...flags].join(flags.length > 2 ? ' \\\n  ' : ' ')
}

/** Fields of an object become flags: `--limits.daily_usd 20`. */
function flagsFor(name: string, value: unknown): string[] {
  if (Array.isArray(value)) return [`--${name} ${quoteForShell(value.join(','))}`]
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([inner, each]) => flagsFor(`${name}.${inner}`, each))
  }
  return [`--${name} ${quoteForShell(String(value))}`]
}

function toolCallExample({ name }: OperationShape, input: Input): string {
  const params = { name, arguments: input }
  return pretty({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
}
