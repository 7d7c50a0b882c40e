import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shapes } from '#test/support/contract.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

/** The requests that an API tool would generate from the document. */
type Parameter = { $ref?: string; name: string; in: string; example?: unknown; required?: boolean }
type Media = { examples?: Record<string, { value: unknown }> }
type DescribedOperation = {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, Media> }
}
type Document = {
  servers: { url: string }[]
  paths: Record<string, Record<string, DescribedOperation>>
  components: { parameters: Record<string, Parameter> }
}

const { url } = await startTestService()
const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document
const { key } = await createKey(url, (await openAccount(url)).bearer)

/** A separate account for operations that would end the shared session. */
const bearerFor = async (name: string): Promise<string> => {
  const access = shapes.find((shape) => shape.name === name)?.access
  const isForKeys = access === 'anyone' || access?.api_key === true
  return isForKeys ? key : (await openAccount(url)).bearer
}

const parametersOf = ({ parameters = [] }: DescribedOperation, place: string): Parameter[] =>
  parameters
    .map((each) => document.components.parameters[each.$ref?.split('/').at(-1) ?? ''] ?? each)
    .filter((each) => each.in === place)

type Request = {
  title: string
  search?: string
  body?: string | FormData
  headers?: Record<string, string>
}

/** Every example body, and every filter with its example. */
function requestsOf(described: DescribedOperation): Request[] {
  const filters = described.requestBody === undefined ? parametersOf(described, 'query') : []
  const shown = filters.filter(({ example }) => example !== undefined)
  const needed = shown.filter(({ required }) => required).map(({ name }) => name)
  const searches = shown.map(({ name }) => {
    const sent = shown.filter((each) => each.name === name || needed.includes(each.name))
    const pairs = sent.map((each) => [each.name, String(each.example)] as const)
    return { title: `with ${name}`, search: `?${new URLSearchParams(Object.fromEntries(pairs))}` }
  })
  const { content = {} } = described.requestBody ?? {}
  const bodies = Object.entries(content).flatMap(([type, { examples = {} }]) =>
    Object.entries(examples).map(([name, { value }]) => ({ title: name, ...sentAs(type, value) })),
  )
  const bare = described.requestBody === undefined && needed.length === 0
  return [...(bare ? [{ title: 'bare' }] : []), ...searches, ...bodies]
}

function sentAs(type: string, value: unknown): Pick<Request, 'body' | 'headers'> {
  if (type !== 'multipart/form-data') {
    return { body: JSON.stringify(value), headers: { 'content-type': type } }
  }
  const form = new FormData()
  for (const [name, text] of Object.entries(value as Record<string, string>)) {
    form.set(name, name === 'file' ? new Blob([text]) : text)
  }
  return { body: form }
}

for (const [path, methods] of Object.entries(document.paths)) {
  for (const [method, described] of Object.entries(methods)) {
    const name = described.operationId

    test(`${name}: the service accepts every example request`, async () => {
      const ids = parametersOf(described, 'path')
      const filled = ids.reduce(
        (made, id) => made.replace(`{${id.name}}`, String(id.example)),
        path,
      )
      assert.doesNotMatch(filled, /[{}]|undefined/)
      for (const { title, search = '', ...sent } of requestsOf(described)) {
        const reply = await fetch(`${url}/v1${filled}${search}`, {
          method: method.toUpperCase(),
          ...sent,
          headers: { ...sent.headers, authorization: `Bearer ${await bearerFor(name)}` },
        })
        const text = await reply.text()
        assert.ok(![400, 405, 415, 422].includes(reply.status), `${title}: ${reply.status} ${text}`)
        assert.notEqual(reply.status, 403, `${title}: ${text}`)
        assert.ok(reply.status < 500, `${title}: ${text}`)
      }
    })

    test(`${name}: there is an example of all that can be sent`, () => {
      for (const parameter of [
        ...parametersOf(described, 'path'),
        ...parametersOf(described, 'query'),
      ]) {
        // A cursor comes from the page before and from nowhere else.
        if (parameter.name === 'cursor') continue
        assert.notEqual(parameter.example, undefined, parameter.name)
      }
      const body = described.requestBody?.content['application/json']
      if (body !== undefined) assert.ok(Object.keys(body.examples ?? {}).length > 0)
      const takes = shapes.find((shape) => shape.name === name)
      const isBody = takes !== undefined && takes.method !== 'GET' && takes.method !== 'DELETE'
      const fields = Object.keys(takes?.input.properties ?? {}).length
      if (isBody && fields > parametersOf(described, 'path').length) assert.ok(body !== undefined)
    })
  }
}

test('the document describes all operations', () => {
  const described = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  const expected = shapes.filter(({ variant_of }) => variant_of === undefined)
  assert.deepEqual(described.sort(), expected.map(({ name }) => name).sort())
})
