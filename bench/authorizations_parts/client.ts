import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { FrameReader, writeFrames } from '#iso8583/frame.ts'
import { default_link } from '#iso8583/links.ts'
import { type BenchCard, frameMaker, responseReader } from './messages.ts'

/**
 * A card network in a separate process, so it takes no CPU time from the host. It keeps a number of
 * messages in flight, or sends at a fixed rate, over a few connections.
 */
export type Job = {
  port: number
  cards: BenchCard[]
  seconds: number
  in_flight: number
  per_second: number | null
}
export type Report = {
  /** Responses within the measured time. Later ones only count towards latencies. */
  in_time: number
  others: number
  latencies_ms: number[]
  cpu_us: number
}

const CONNECTIONS = 4

type Connection = { socket: Socket; waiting: number }

const TRACES = 1_000_000

async function run(job: Job): Promise<Report> {
  const report: Report = { in_time: 0, others: 0, latencies_ms: [], cpu_us: 0 }
  const make = frameMaker(job.cards)
  const until = performance.now() + job.seconds * 1_000
  const isOver = () => performance.now() >= until
  const sent_ms = new Float64Array(TRACES)
  const connections: Connection[] = []
  const send = (connection: Connection, count: number) => {
    const now_ms = performance.now()
    const frames = Array.from({ length: count }, () => {
      const { body, trace } = make()
      sent_ms[trace] = now_ms
      return { body }
    })
    connection.waiting += count
    connection.socket.write(writeFrames(default_link.frame, frames))
  }
  for (let at = 0; at < CONNECTIONS; at += 1) {
    const socket = connect({ port: job.port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    const connection: Connection = { socket, waiting: 0 }
    const reader = new FrameReader(default_link.frame)
    const read = responseReader()
    socket.on('data', (chunk: Buffer) => {
      const now_ms = performance.now()
      const waiting = connection.waiting
      reader.push(chunk, ({ body }) => {
        const { trace, is_approved } = read(body)
        report.latencies_ms.push(now_ms - (sent_ms[trace] as number))
        if (now_ms <= until) report.in_time += 1
        if (!is_approved) report.others += 1
        connection.waiting -= 1
      })
      const answered = waiting - connection.waiting
      if (answered > 0 && job.per_second === null && !isOver()) send(connection, answered)
    })
    connections.push(connection)
  }
  const cpu = process.cpuUsage()
  if (job.per_second === null) {
    for (const connection of connections) send(connection, job.in_flight / CONNECTIONS)
    while (!isOver()) await new Promise((done) => setTimeout(done, 10))
  } else {
    await sendAtRate(connections, send, { per_second: job.per_second, until })
  }
  const { user, system } = process.cpuUsage(cpu)
  report.cpu_us = user + system
  const ends = performance.now() + 3_000
  while (connections.some(({ waiting }) => waiting > 0) && performance.now() < ends) {
    await new Promise((done) => setTimeout(done, 10))
  }
  for (const { socket } of connections) socket.destroy()
  return report
}

/** Open loop: sends each message when it is due, even if responses are late. */
async function sendAtRate(
  connections: readonly Connection[],
  send: (connection: Connection, count: number) => void,
  { per_second, until }: { per_second: number; until: number },
): Promise<void> {
  const began = performance.now()
  for (let count = 0; performance.now() < until; ) {
    const due = Math.floor(((performance.now() - began) / 1_000) * per_second)
    for (; count < due; count += 1) {
      const connection = connections[count % connections.length]
      if (connection !== undefined) send(connection, 1)
    }
    await new Promise((done) => setTimeout(done, 2))
  }
}

process.on('message', async (job: Job) => process.send?.(await run(job)))
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
