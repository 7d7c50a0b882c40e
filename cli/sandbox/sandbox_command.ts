import { Command } from 'commander'
import { printAnswer, printRows } from '#cli/calls/answer.ts'
import { commandOf } from '#cli/calls/command.ts'
import { withConnection } from '#cli/calls/operation.ts'
import { rawCall } from '#cli/calls/raw_call.ts'
import { type ConnectionOptions, connectionOf } from '#cli/profiles/connection.ts'
import { type SandboxCall, sandbox_calls } from './sandbox_calls.ts'

type Options = ConnectionOptions & { json?: boolean }

/** Every lever of the sandbox, under the noun it moves. */
export function sandboxCommand(): Command {
  const sandbox = new Command('sandbox').description('Play the world around a sandbox.')
  for (const noun of new Set(sandbox_calls.map((call) => call.noun))) {
    const group = sandbox.command(noun).description(`What the world does to ${noun}.`)
    for (const call of sandbox_calls.filter((each) => each.noun === noun)) {
      group.addCommand(leverCommand(call))
    }
  }
  const inbox = new Command('inbox')
    .description('The e-mails that were written to the account.')
    .action(() => showInbox(inbox.opts()))
  const pay = new Command('pay')
    .description('Pay for a call that costs something, and print each step.')
    .action(async () => (await import('./pay.ts')).payFor(await connectionOf(pay.opts())))
  return sandbox.addCommand(withConnection(inbox)).addCommand(withConnection(pay))
}

function leverCommand({ noun, verb, summary, input }: SandboxCall): Command {
  const positional = 'id' in input.properties ? ['id'] : []
  const callable = { name: verb, summary, description: summary, input, positional }
  const example = `sandbox ${noun} ${verb}`
  const command = commandOf({ ...callable, example }, async ({ input: given, options }) => {
    const { id, ...body } = given
    const path = [noun, ...(id === undefined ? [] : [encodeURIComponent(String(id))]), verb]
    const connection = await connectionOf(options)
    const answer = await rawCall(connection, `POST /sandbox/v1/${path.join('/')}`, body)
    printAnswer(answer, (options as Options).json ?? false)
  })
  return withConnection(command)
}

async function showInbox(options: Options): Promise<void> {
  const connection = await connectionOf(options)
  const page = await rawCall<{ data: Record<string, unknown>[] }>(
    connection,
    'GET /sandbox/v1/inbox',
  )
  if (options.json) return printAnswer(page, true)
  printRows(page.data, ['created_at', 'kind', 'state', 'subject'])
}
