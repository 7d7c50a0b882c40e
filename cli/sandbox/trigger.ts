import { rawCall } from '#cli/calls/raw_call.ts'
import { UsageError } from '#cli/exit_codes.ts'
import {
  type Connection,
  type ConnectionOptions,
  resolveConnection,
} from '#cli/profiles/connection.ts'
import { type EventType, event_types } from '#contract/events.ts'
import { type TriggerContext, type TriggerOptions, triggers } from './triggers.ts'

type CommandOptions = ConnectionOptions & { email?: string; password?: string }

/** Performs the actions that cause an event, and prints each step. */
export async function trigger(type: string, options: CommandOptions): Promise<void> {
  if (!isEventType(type)) {
    const known = Object.keys(event_types).map((each) => `  ${each}`)
    throw new UsageError(`Unknown event type "${type}". Choose one of:\n${known.join('\n')}`)
  }
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  await produceEvent(type, await resolveConnection(options), { ...options, print })
  print(`${type}: ${event_types[type]}`)
}

export async function produceEvent(
  type: EventType,
  connection: Connection,
  options: TriggerOptions,
): Promise<void> {
  await triggers[type](createContext(connection, options))
}

const isEventType = (type: string): type is EventType => type in event_types

function createContext(connection: Connection, options: TriggerOptions): TriggerContext {
  return {
    ...options,
    connection,
    callSandbox: async (path, body = {}) => {
      const resource = await rawCall<{ id: string; status: string }>(
        connection,
        `POST /sandbox/v1/${path}`,
        body,
      )
      options.print(`  ${path}: ${resource.id} is ${resource.status}`)
      return resource
    },
  }
}
