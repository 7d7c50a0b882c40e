import { Command } from 'commander'
import { buildCommand } from '#cli/calls/command.ts'
import { printResponse, printRows } from '#cli/calls/output.ts'

import { rawCall } from '#cli/calls/raw_call.ts'
import { addConnectionOptions } from '#cli/connection_options.ts'
import { type ConnectionOptions, resolveConnection } from '#cli/profiles/connection.ts'
import { type SandboxCall, sandbox_calls, sandbox_nouns } from './sandbox_calls.ts'

type Options = ConnectionOptions & { json?: boolean }

/** All sandbox calls, grouped by the noun in their path. */
export function sandboxCommand(): Command {
  const sandbox = new Command('sandbox').description(
    'Simulate deposits, purchases, shipping and other outside events in a sandbox.',
  )
  for (const noun of new Set(sandbox_calls.map((call) => call.noun))) {
    const group = sandbox.command(noun).description(sandbox_nouns[noun])
    for (const call of sandbox_calls.filter((each) => each.noun === noun)) {
      group.addCommand(sandboxCallCommand(call))
    }
  }
  const inbox = new Command('inbox')
    .description('List the emails sent to the account.')
    .action(() => showInbox(inbox.opts()))
  const pay = new Command('pay')
    .description('Pay for a priced operation with x402, and print each step.')
    .action(async () => (await import('./pay.ts')).payFor(await resolveConnection(pay.opts())))
  return sandbox.addCommand(withOptions(inbox)).addCommand(withOptions(pay))
}

const withOptions = (command: Command): Command =>
  addConnectionOptions(command.option('--json', 'print JSON'))

function sandboxCallCommand({ noun, verb, summary, input }: SandboxCall): Command {
  const positional = 'id' in input.properties ? ['id'] : []
  const spec = { name: verb, summary, description: summary, input, positional }
  const example = `sandbox ${noun} ${verb}`
  const command = buildCommand({ ...spec, example }, async ({ input: given, options }) => {
    const { id, ...body } = given
    const path = [noun, ...(id === undefined ? [] : [encodeURIComponent(String(id))]), verb]
    const connection = await resolveConnection(options)
    const response = await rawCall(connection, `POST /sandbox/v1/${path.join('/')}`, body)
    printResponse(response, (options as Options).json ?? false)
  })
  return withOptions(command)
}

async function showInbox(options: Options): Promise<void> {
  const connection = await resolveConnection(options)
  const page = await rawCall<{ data: Record<string, unknown>[] }>(
    connection,
    'GET /sandbox/v1/inbox',
  )
  if (options.json) return printResponse(page, true)
  printRows(page.data, ['created_at', 'kind', 'state', 'subject'])
}
