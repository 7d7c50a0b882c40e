import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TSchema } from 'typebox'
import { columns } from '#cli/calls/columns.ts'
import { operationCommand } from '#cli/calls/operation.ts'
import { operatorCommands } from '#cli/calls/operator_call.ts'
import { exitCodeFor } from '#cli/exit_codes.ts'
import { sandbox_calls } from '#cli/sandbox/sandbox_calls.ts'
import { pathNames } from '#contract/operation.ts'
import { bodyOf, requiredQueryOf, shapes } from '#test/support/contract.ts'
import { startTestService } from '#test/support/start.ts'

const { url } = await startTestService()
process.env['XDG_CONFIG_HOME'] = '/nowhere'

type Fields = Record<string, TSchema & { description?: string; enum?: string[] }>

for (const shape of shapes) {
  const command = operationCommand(shape)
  command.exitOverride()
  const help = command.createHelp()

  test(`${shape.name}: every field is an argument or a flag with a help text`, () => {
    const named = [
      ...command.registeredArguments.map((argument) => argument.name()),
      ...command.options.map((option) => option.long?.slice(2)),
    ]
    for (const [field, schema] of Object.entries(shape.input.properties as Fields)) {
      assert.equal(named.filter((name) => name === field).length, 1, field)
      for (const word of schema.enum ?? []) {
        assert.ok(command.helpInformation().includes(word), `${field} can be ${word}`)
      }
    }
    for (const option of command.options) {
      assert.notEqual(help.optionDescription(option), '', `${option.long} has no help text`)
    }
    assert.equal(help.subcommandDescription(command), shape.summary)
  })

  if (shape.access === 'anyone') continue
  test(`${shape.name}: without a credential the exit code is 3`, async () => {
    const ids = pathNames(shape.path).map(() => 'nothing_01kc3z8e5xf8m9r4t2v6w7y8za')
    const words = ['--server', url, '--data', JSON.stringify(inputOf(shape))]
    const failure = await command.parseAsync([...ids, ...words], { from: 'user' }).then(
      () => null,
      (cause: unknown) => cause,
    )
    assert.equal((failure as { code?: string } | null)?.code, 'missing_token', String(failure))
    assert.equal(exitCodeFor(failure), 3)
  })
}

const inputOf = (shape: (typeof shapes)[number]) => ({
  ...bodyOf(shape),
  ...requiredQueryOf(shape),
})

test('every list has table columns, and each is a field of its rows', () => {
  const lists = shapes.filter(({ paged }) => paged)
  assert.deepEqual(Object.keys(columns).sort(), lists.map(({ name }) => name).sort())
  for (const { name, output } of lists) {
    const { data } = (output as unknown as { properties: Fields }).properties
    for (const column of columns[name as keyof typeof columns] ?? []) {
      assert.ok(fieldIn((data as { items?: TSchema }).items, column), `${name} ${column}`)
    }
  }
})

function fieldIn(schema: TSchema | undefined, path: string): boolean {
  const [field = '', ...within] = path.split('.')
  const found = (schema as { properties?: Fields } | undefined)?.properties?.[field]
  return found !== undefined && (within.length === 0 || fieldIn(found, within.join('.')))
}

for (const command of operatorCommands()) {
  command.exitOverride()

  test(`operator ${command.name()}: every flag has a help text, and the service has the call`, async () => {
    const help = command.createHelp()
    for (const option of command.options) {
      assert.notEqual(help.optionDescription(option), '', `${option.long} has no help text`)
    }
    const ids = command.registeredArguments.map(() => 'nothing')
    const words = ['--server', url, '--token', 'flo_test_nobody', '--data', '{}']
    const needed = command.options.filter(({ description }) => description.endsWith('(required)'))
    const given = needed.flatMap(({ long = '', flags, description }) => {
      const choice = /\bOne of: (\w+)/.exec(description)?.[1] ?? '123456'
      return [long, flags.includes('<number>') ? '1' : flags.includes('<text>') ? choice : 'true']
    })
    const failure = await command.parseAsync([...ids, ...words, ...given], { from: 'user' }).then(
      () => null,
      (cause: unknown) => cause,
    )
    assert.equal((failure as { code?: string } | null)?.code, 'invalid_token', String(failure))
  })
}

test('every sandbox call of the CLI exists and requires a bearer', async () => {
  for (const { noun, verb, input } of sandbox_calls) {
    const id = 'id' in input.properties ? '/nothing' : ''
    const reply = await fetch(`${url}/sandbox/v1/${noun}${id}/${verb}`, { method: 'POST' })
    assert.equal(reply.status, 401, `${noun} ${verb}`)
  }
})
