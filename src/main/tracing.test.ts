import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { parseTraceparent } from '#platform/runtime/tracing.ts'
import { readSettings } from '#settings/settings.ts'
import { send } from '#test/support/http.ts'
import { PASSWORD } from '#test/support/people.ts'
import { authorize, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

type Attribute = { key: string; value: { stringValue?: string; intValue?: string } }
type OtlpSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
}
type ExportRequest = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[]
}

const bodies: string[] = []
const paths = new Set<string>()
const keys = new Set<unknown>()
const collector = createServer((request, response) => {
  paths.add(`${request.method} ${request.url}`)
  keys.add(request.headers['x-key'])
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    bodies.push(Buffer.concat(chunks).toString())
    response.end('{}')
  })
})
collector.listen(0, '127.0.0.1')
await once(collector, 'listening')
after(() => collector.close())
const { port } = collector.address() as AddressInfo

const attributeOf = ({ attributes }: { attributes: Attribute[] }, key: string) => {
  const value = attributes.find((each) => each.key === key)?.value
  return value?.stringValue ?? value?.intValue
}

test('a collector gets a span per request, card message, task and transaction, and no secret', async () => {
  const service = await startTestService({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20key',
      OTEL_SERVICE_NAME: 'cards',
    },
  })
  const { url } = service
  const spender = await openSpender(service)
  const trace_id = 'a'.repeat(32)
  const traceparent = `00-${trace_id}-${'b'.repeat(16)}-01`
  const frozen = await send(url, 'POST', `/v1/cards/${spender.card.id}/freeze`, {
    bearer: spender.bearer,
    headers: { traceparent },
  })
  assert.equal(frozen.status, 200, frozen.text)
  const path = `/v1/cards/${spender.card.id}/pan`
  const revealed = await send(url, 'GET', path, { bearer: spender.key })
  await authorize(url, spender, { amount: 5 })
  await service.stop()

  const requests = bodies.map((body) => JSON.parse(body) as ExportRequest)
  const all = requests.flatMap(({ resourceSpans }) => resourceSpans)
  const spans = all.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
  assert.deepEqual([...paths], ['POST /v1/traces'])
  assert.deepEqual([...keys], ['a key'])
  assert(all.every(({ resource }) => attributeOf(resource, 'service.name') === 'cards'))

  const freeze = spans.find(({ name }) => name === 'POST /v1/cards/:id/freeze')
  assert(freeze !== undefined, [...new Set(spans.map(({ name }) => name))].join('\n'))
  assert.deepEqual([freeze.traceId, freeze.parentSpanId], [trace_id, 'b'.repeat(16)])
  assert.equal(attributeOf(freeze, 'http.response.status_code'), '200')
  assert(BigInt(freeze.endTimeUnixNano) > BigInt(freeze.startTimeUnixNano))
  const within = spans.filter(({ parentSpanId }) => parentSpanId === freeze.spanId)
  assert(
    within.some(({ name }) => name === 'transaction'),
    'the transaction is part of the request',
  )
  const message = spans.find(({ name }) => name === 'card message authorize')
  assert(message !== undefined && attributeOf(message, 'florin.mti') === '0100')
  assert(spans.some(({ name }) => name.startsWith('task ')))
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length)

  const text = bodies.join('')
  const secrets = [revealed.body.pan, spender.bearer, spender.key, spender.email, PASSWORD]
  for (const secret of [...secrets, spender.account_id, spender.card.id]) {
    assert(!text.includes(secret), 'a trace has names and codes only')
  }
})

test('without an endpoint there are no traces, and a bad one is refused', () => {
  assert.equal(readSettings({}).tracing, null)
  assert.throws(() => readSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1:4318' }), {
    message: /must begin with http/,
  })
})

test('a collector that is down does not stop the service', async () => {
  const service = await startTestService({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
  })
  assert.equal((await send(service.url, 'GET', '/healthz')).status, 200)
  await service.stop()
})

test('only a valid traceparent continues a trace', () => {
  const [trace_id, span_id] = ['c'.repeat(32), 'd'.repeat(16)]
  assert.deepEqual(parseTraceparent(`00-${trace_id}-${span_id}-00`), { trace_id, span_id })
  for (const bad of ['', '00-x', `00-${'0'.repeat(32)}-${span_id}-00`, `ff-${trace_id}-1-00`]) {
    assert.equal(parseTraceparent(bad), null)
  }
})
