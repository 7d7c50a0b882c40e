import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { inputLocation, type OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { Problem, type ProblemDetail } from '#contract/problem.ts'
import { ID_PREFIXES } from '#kernel/id.ts'
import { readJson } from '#kernel/json.ts'
import { USD_MAX } from '#kernel/money.ts'
import { bodyOf, shapes } from '#test/support/contract.ts'
import { amountFields, placeOf } from './amount_fields.ts'
import { sentences } from './input_details.ts'
import { validateInput } from './parse_input.ts'

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))

function parseInput(operation: OperationShape, given: unknown): Record<string, unknown> {
  const { input, refusal } = validateInput(operation, given)
  if (refusal !== null) throw refusal
  return input
}

function refusalOf(operation: OperationShape, input: unknown): Problem {
  try {
    parseInput(operation, input)
  } catch (cause) {
    assert.ok(cause instanceof Problem, `${operation.name} threw ${String(cause)}`)
    return cause
  }
  throw new Error(`${operation.name} took ${JSON.stringify(input)}`)
}

const fieldsIn = (problem: Problem) => problem.details?.map(({ field }) => field) ?? []

/** Every amount of every operation. */
const amount_fields = shapes.flatMap((operation) =>
  amountFields(operation.input).map((field) => ({ operation, ...field })),
)

/** The operation's own example with this text in place of the amount, parsed like a body. */
function withAmount(operation: OperationShape, path: readonly string[], text: string): unknown {
  const input = { ...idsFor(operation), ...bodyOf(operation) } as Record<string, unknown>
  let holder = input
  for (const step of path.slice(0, -1)) {
    holder[step] = { ...(holder[step] as object | undefined) }
    holder = holder[step] as Record<string, unknown>
  }
  holder[path.at(-1) ?? ''] = 'THE AMOUNT'
  return readJson(JSON.stringify(input).replace('"THE AMOUNT"', text))
}

function idsFor({ input }: OperationShape): Record<string, string> {
  const required = (input.required ?? []) as string[]
  const ids = required.filter((name) => ['id', 'eid'].includes(name))
  return Object.fromEntries(ids.map((name) => [name, 'card_01kc3z8e5xf8m9r4t2v6w7y8za']))
}

test('the contract has amounts to judge in every money-moving operation', () => {
  const names = new Set(amount_fields.map(({ operation }) => operation.name))
  for (const name of ['create_topup', 'issue_card', 'load_card', 'unload_card', 'withdraw']) {
    assert.ok(names.has(name), name)
  }
  assert.ok(names.has('update_account') && names.has('set_card_limits'))
})

for (const { operation, path, decimals } of amount_fields) {
  const field = path.join('.')
  const isQuery = inputLocation(operation) === 'query'
  const code = isQuery ? 'invalid_request' : 'invalid_amount'

  test(`${operation.name}: ${field} takes no number that is not an exact amount`, (t) => {
    t.diagnostic(`seed ${seed}`)
    const beyond = `0.${'0'.repeat(decimals)}1`
    const odd = ['-0', '-0.0', '1e400', '-1e400', '1e-400', '9007199254740993', '-1', '-0.01']
    const more = ['0.10000000000000000001', '0.12345678', '1e-7', beyond, `1${beyond.slice(1)}`]
    for (const text of [...odd, ...more]) {
      const refusal = refusalOf(operation, withAmount(operation, path, text))
      assert.equal(refusal.code, code, text)
      assert.equal(refusal.status, isQuery ? 400 : 422, text)
      assert.deepEqual(fieldsIn(refusal), [field], text)
    }
    for (const text of [String(USD_MAX + 1), '1e13', '9007199254740991', '1e300']) {
      const refusal = refusalOf(operation, withAmount(operation, path, text))
      assert.equal(refusal.code, isQuery ? 'invalid_request' : 'amount_out_of_range', text)
      assert.deepEqual(fieldsIn(refusal), [field], text)
    }
    for (const text of ['"1"', '"1.00"', 'true', '[1]', '{"usd":1}', '{}']) {
      const refusal = refusalOf(operation, withAmount(operation, path, text))
      assert.equal(refusal.code, 'invalid_request', text)
      assert.equal(refusal.status, 400, text)
    }
    const fine = fc.integer({ min: 0, max: 10_000_000 }).map((cents) => String(cents / 100))
    fc.assert(
      fc.property(fine, (text) => {
        const parsed = parseInput(operation, withAmount(operation, path, text))
        const place = placeOf(parsed, path)
        assert.equal(place?.holder[place.name], Number(text))
      }),
      { seed, numRuns: 50 },
    )
  })
}

test('an amount with a minus is refused as negative, whatever its digits', () => {
  for (const text of ['-1', '-0', '-0.0', '-1e400', '-9007199254740993']) {
    const { message } = refusalOf(operations.create_topup, readJson(`{"amount_usd":${text}}`))
    assert.equal(message, 'amount_usd must not be negative.', text)
  }
})

test('an invalid shape is reported before an invalid amount, and no amount is corrected silently', () => {
  const input = readJson('{"id":"card_x","amount_usd":1e400,"colour":"red"}')
  const refusal = refusalOf(operations.load_card, input)
  assert.equal(refusal.code, 'invalid_request')
  assert.deepEqual(fieldsIn(refusal), ['colour'])
})

test('an example of every operation passes, and nothing of it is changed', () => {
  for (const operation of shapes.filter((shape) => inputLocation(shape) === 'body')) {
    const input = { ...idsFor(operation), ...bodyOf(operation) }
    assert.deepEqual(parseInput(operation, structuredClone(input)), input, operation.name)
  }
})

test('an error inside a nullable field is the only one, without a demand for null', () => {
  const id = 'card_x'
  const cases: [OperationShape, unknown, string, string][] = [
    [operations.update_card, { id, metadata: { a: 1 } }, 'metadata.a', 'must be a string'],
    [operations.set_mcc_rules, { id, allow: [1] }, 'allow.0', 'must be a string'],
    [operations.update_card, { id, metadata: [] }, 'metadata', 'must be an object'],
  ]
  for (const [operation, input, field, message] of cases) {
    assert.deepEqual(refusalOf(operation, input).details, [{ field, message }])
  }
})

test('the error of a metadata key that is empty or too long shows the allowed lengths', () => {
  const details = [{ field: 'metadata', message: 'keys must have 1 to 40 characters' }]
  for (const key of ['', 'k'.repeat(41)]) {
    const metadata = { [key]: 'v' }
    assert.deepEqual(refusalOf(operations.update_card, { id: 'card_x', metadata }).details, details)
    const topup = { amount_usd: 5, metadata }
    assert.deepEqual(refusalOf(operations.create_topup, topup).details, details)
  }
})

test('an unknown field is named, at any depth, also those that every object has', () => {
  const cases: [OperationShape, unknown, string][] = [
    [operations.create_account, { email: 'a@b.cc', password: 'x'.repeat(12), role: 1 }, 'role'],
    [operations.update_account, { notifications: { sms: true } }, 'notifications.sms'],
    [operations.create_api_key, readJson('{"__proto__":{}}'), '__proto__'],
    [operations.create_api_key, readJson('{"constructor":1}'), 'constructor'],
    [operations.create_api_key, readJson('{"toString":1}'), 'toString'],
    [operations.create_api_key, readJson('{"a/b~c":1}'), 'a/b~c'],
    [operations.create_api_key, readJson('{"":1}'), ''],
  ]
  for (const [operation, input, field] of cases) {
    const refusal = refusalOf(operation, input)
    assert.equal(refusal.code, 'invalid_request')
    const detail: ProblemDetail = { field, message: 'is not recognized' }
    assert.deepEqual(refusal.details, [detail])
  }
})

test('missing, invalid and unknown fields are each reported with the reason', () => {
  const refusal = refusalOf(operations.create_account, { email: 5, colour: 'red' })
  assert.equal(refusal.code, 'invalid_request')
  assert.deepEqual([...fieldsIn(refusal)].sort(), ['colour', 'email', 'password'])
  const messages = Object.fromEntries(
    refusal.details?.map((each) => [each.field, each.message]) ?? [],
  )
  assert.equal(messages['password'], 'is required')
  assert.equal(messages['colour'], 'is not recognized')
  assert.match(messages['email'] ?? '', /string/)
})

test('of thousands of wrong fields or keys, the first 20 or their number is reported', () => {
  const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, 0]))
  const unknown = refusalOf(operations.issue_card, many)
  assert.equal(unknown.code, 'invalid_request')
  assert.deepEqual([...fieldsIn(unknown)], Object.keys(many).slice(0, 20))
  assert.equal(refusalOf(operations.list_cards, many).code, 'unknown_parameter')
  const detail = { field: 'metadata', message: 'must not have more than 20 keys' }
  assert.deepEqual(refusalOf(operations.update_card, { metadata: many }).details, [detail])
})

test('a filter that is not one of the known words is refused, and an unknown one by its name', () => {
  const wrong = refusalOf(operations.list_api_keys, { status: 'active,gone' })
  assert.equal(wrong.code, 'invalid_request')
  assert.deepEqual(fieldsIn(wrong), ['status'])
  const unknown = refusalOf(operations.list_api_keys, { colour: 'red' })
  assert.equal(unknown.code, 'unknown_parameter')
  assert.match(unknown.message, /colour/)
})

test('a filter by id takes only what can be an id of its kind', () => {
  const body = '01kc3z8e5xf8m9r4t2v6w7y8za'
  const kinds = {
    card_id: 'card',
    transaction_id: 'txn',
    authorization_id: 'txn',
    dispute_id: 'dsp',
  }
  const lists = shapes.filter((shape) => 'cursor' in shape.input.properties)
  const filters = lists.flatMap((operation) =>
    Object.entries(kinds)
      .filter(([field]) => field in operation.input.properties)
      .map(([field, kind]) => ({ operation, field, kind })),
  )
  assert.ok(filters.length >= 9, 'lists have filters by id')
  for (const { operation, field, kind } of filters) {
    const given = { ...idsFor(operation), ...(operation.variant_of ? { type: 'card' } : {}) }
    const right = { ...given, [field]: `${kind}_${body},${kind}_${body}` }
    assert.deepEqual(parseInput(operation, { ...right }), right)
    const others = ID_PREFIXES.filter((each) => each !== kind).map((each) => `${each}_${body}`)
    const slips = ['nonsense', '', `${kind}_`, `${kind}_${body}x`, `${kind}_${body},`, body]
    for (const value of [...others, ...slips, `${kind}_${body.toUpperCase()}`]) {
      const refusal = refusalOf(operation, { ...given, [field]: value })
      assert.equal(refusal.code, 'invalid_request', value)
      assert.deepEqual(fieldsIn(refusal), [field], value)
    }
  }
})

test('a body that is not an object is refused', () => {
  for (const input of [null, undefined, [], [{}], 'text', 5, true]) {
    const refusal = refusalOf(operations.create_api_key, input)
    assert.equal(refusal.code, 'invalid_request')
    assert.equal(refusal.status, 400)
  }
})

test('text that PostgreSQL cannot store unchanged is refused in every field', () => {
  const texts = ['\u0000', 'a\u0000b', '\ud800', 'a\udc00b', '\udc00\ud800']
  for (const text of texts) {
    const name = refusalOf(operations.create_api_key, { name: text })
    assert.equal(name.code, 'invalid_request')
    assert.deepEqual(fieldsIn(name), ['name'])
    const key = refusalOf(operations.create_topup, {
      ...bodyOf(operations.create_topup),
      metadata: { [text]: 'x' },
    })
    assert.equal(key.code, 'invalid_request')
    const value = refusalOf(operations.create_topup, {
      ...bodyOf(operations.create_topup),
      metadata: { note: text },
    })
    assert.deepEqual(fieldsIn(value), ['metadata.note'])
    const cursor = refusalOf(operations.list_api_keys, { cursor: text })
    assert.equal(cursor.status, 400)
  }
  assert.ok(parseInput(operations.create_api_key, { name: '😀 \ud83d\ude00 é' }))
})

test('no JSON whatever brings out anything but an input or a refusal of 400 or 422', (t) => {
  t.diagnostic(`seed ${seed}`)
  const shape = fc.constantFrom(...shapes)
  const words = [...new Set(shapes.flatMap(({ input }) => Object.keys(input.properties)))]
  const value = fc.jsonValue({ maxDepth: 3 })
  const input = fc.oneof(value, fc.dictionary(fc.constantFrom(...words), value, { maxKeys: 6 }))
  const property = fc.property(shape, input, (operation, given) => {
    try {
      parseInput(operation, readJson(JSON.stringify(given)))
    } catch (cause) {
      assert.ok(cause instanceof Problem, String(cause))
      assert.ok([400, 422].includes(cause.status))
      assert.ok(cause.message.length < 5_000)
    }
  })
  fc.assert(property, { seed, numRuns: 5_000 })
})

/** Keywords that refuse nothing by themselves, or are reported by the name of a field. */
const SILENT = new Set([
  ...['properties', 'required', 'additionalProperties', 'patternProperties', 'anyOf', 'items'],
  ...['description', 'examples', 'default', 'contentEncoding', 'x-decimals'],
])

/** A schema and all schemas in it. */
function schemasIn(schema: object): object[] {
  const inner = Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'properties') return Object.values(value)
    return keyword === 'anyOf' ? value : keyword === 'items' ? [value] : []
  })
  return [schema, ...(inner as object[]).flatMap(schemasIn)]
}
const input_schemas = shapes.flatMap(({ input }) => schemasIn(input))

test('every keyword of every input has a sentence of ours', () => {
  const used = new Set(input_schemas.flatMap((schema) => Object.keys(schema)))
  const unsaid = [...used].filter((keyword) => !SILENT.has(keyword) && !(keyword in sentences))
  assert.ok(used.has('minLength'))
  assert.deepEqual(unsaid, [])
})

test('every pattern of every input has an example, which its error shows', () => {
  const patterns = input_schemas.filter((schema) => 'pattern' in schema)
  assert.ok(patterns.length > 10)
  assert.deepEqual(
    patterns.filter((schema) => !('examples' in schema)),
    [],
  )
})

const sentencesFor: readonly (readonly [name: string, input: object, message: string])[] = [
  ['create_topup', { amount_usd: '25' }, 'amount_usd must be a number.'],
  ['create_api_key', { name: 5 }, 'name must be a string.'],
  ['create_api_key', { name: '' }, 'name must not be empty.'],
  ['reply_ticket', { id: 'tkt_x', body: '' }, 'body must not be empty.'],
  ['reply_ticket', { id: 'tkt_x', body: ' \n' }, 'body must not be blank.'],
  ['list_cards', { limit: 0 }, 'limit must be at least 1.'],
  ['list_cards', { limit: 1.5 }, 'limit must be a whole number.'],
  ['create_webhook', { url: 'https://shop.example', events: [] }, 'events must not be empty.'],
  ['update_webhook', { id: 'wh_x', rotate_secret: false }, 'rotate_secret must be true.'],
  ['get_spending', { group_by: 'day', from: 'May 1', to: '' }, 'from must look like 2026-11-01.'],
  ['create_account', { email: 'ada', password: '…' }, 'email must look like ada@example.com.'],
]

for (const [name, input, message] of sentencesFor) {
  test(`${name}: ${message}`, () => {
    const operation = shapes.find((one) => one.name === name)
    assert.ok(operation !== undefined)
    assert.equal(refusalOf(operation, input).message, message)
  })
}
