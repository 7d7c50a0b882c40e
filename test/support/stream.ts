import { request } from 'node:http'
import type { ActivityEvent } from '#contract/activity.ts'
import { eventually } from './eventually.ts'

export type ActivityStream = {
  status: number
  headers: NodeJS.Dict<string | string[]>
  /** The text received so far. */
  text(): string
  /** The events received so far, in order. */
  events(): ActivityEvent[]
  waitForEvents(count: number, within_ms?: number): Promise<ActivityEvent[]>
  /** Resolves when the service has closed the stream. */
  ended: Promise<void>
  close(): void
  pause(): void
  resume(): void
}

/** Opens the activity stream on a new connection. */
export function followActivity(
  url: string,
  bearer: string | null,
  { last = '', query = '' }: { last?: string; query?: string } = {},
): Promise<ActivityStream> {
  const headers: Record<string, string> = {}
  if (bearer !== null) headers['authorization'] = `Bearer ${bearer}`
  if (last !== '') headers['last-event-id'] = last
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/v1/activity/stream${query}`, { headers, agent: false })
    asked.once('error', reject)
    asked.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      const ended = new Promise<void>((done) => response.once('close', done))
      response.on('error', () => undefined)
      const events = () => eventsIn(text)
      const waitForEvents = async (count: number, within_ms = 5_000) => {
        await eventually(async () => events().length >= count, { within_ms })
        return events()
      }
      const { statusCode: status = 0 } = response
      const close = () => void response.destroy()
      const pause = () => void response.pause()
      const resume = () => void response.resume()
      const { headers: got } = response
      resolve({
        status,
        headers: got,
        text: () => text,
        events,
        waitForEvents,
        ended,
        close,
        pause,
        resume,
      })
    })
    asked.end()
  })
}

/** Complete blocks only: the last one may be incomplete. */
function eventsIn(text: string): ActivityEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const [id, data] = block.split('\n')
      if (!id?.startsWith('id: ')) return []
      const event = JSON.parse(data?.replace(/^data: /, '') ?? '') as ActivityEvent
      if (event.id !== id.slice('id: '.length)) throw new Error('the id differs from the event’s')
      return [event]
    })
}
