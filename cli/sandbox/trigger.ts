import { rawCall } from '#cli/calls/raw_call.ts'
import { UsageError } from '#cli/exit_codes.ts'
import { type Connection, type ConnectionOptions, connectionOf } from '#cli/profiles/connection.ts'
import { type EventType, event_types } from '#contract/events.ts'
import { type Stage, type Telling, triggers } from './triggers.ts'

export type TriggerOptions = ConnectionOptions & { email?: string; password?: string }

/** Makes a sandbox produce an event, by doing what it tells of; each step is printed. */
export async function trigger(type: string, options: TriggerOptions): Promise<void> {
  if (!isEventType(type)) {
    const known = Object.keys(event_types).map((each) => `  ${each}`)
    throw new UsageError(`There is no event ${type}. These can be made:\n${known.join('\n')}`)
  }
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  await produce(type, await connectionOf(options), { ...options, say })
  say(`${type}: ${event_types[type]}`)
}

export async function produce(
  type: EventType,
  connection: Connection,
  telling: Telling,
): Promise<void> {
  await triggers[type](stageOf(connection, telling))
}

const isEventType = (type: string): type is EventType => type in event_types

function stageOf(connection: Connection, telling: Telling): Stage {
  return {
    ...telling,
    connection,
    play: async (path, body = {}) => {
      const moved = await rawCall<{ id: string; status: string }>(
        connection,
        `POST /sandbox/v1/${path}`,
        body,
      )
      telling.say(`  ${path}: ${moved.id} is ${moved.status}`)
      return moved
    },
  }
}
