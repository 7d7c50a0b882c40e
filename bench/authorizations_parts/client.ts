import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { FrameReader, writeFrames } from '#iso8583/frame.ts'
import { default_link } from '#iso8583/links.ts'
import { answerReader, frameMaker, type Plastic } from './messages.ts'

/**
 * A card network in a process of its own, so that it takes no time from the host: so many messages
 * in flight, or so many a second, over a few connections.
 */
export type Job = {
  port: number
  cards: Plastic[]
  seconds: number
  in_flight: number
  per_second: number | null
}
export type Report = {
  /** What was answered within the seconds; the rest of what was asked only has latencies. */
  in_time: number
  others: number
  latencies_ms: number[]
  cpu_us: number
}

const CONNECTIONS = 4

type Line = { socket: Socket; waiting: number }

const TRACES = 1_000_000

async function run(job: Job): Promise<Report> {
  const report: Report = { in_time: 0, others: 0, latencies_ms: [], cpu_us: 0 }
  const make = frameMaker(job.cards)
  const until = performance.now() + job.seconds * 1_000
  const isOver = () => performance.now() >= until
  const sent_ms = new Float64Array(TRACES)
  const lines: Line[] = []
  const send = (line: Line, count: number) => {
    const now_ms = performance.now()
    const frames = Array.from({ length: count }, () => {
      const { body, trace } = make()
      sent_ms[trace] = now_ms
      return { body }
    })
    line.waiting += count
    line.socket.write(writeFrames(default_link.frame, frames))
  }
  for (let at = 0; at < CONNECTIONS; at += 1) {
    const socket = connect({ port: job.port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    const line: Line = { socket, waiting: 0 }
    const reader = new FrameReader(default_link.frame)
    const read = answerReader()
    socket.on('data', (chunk: Buffer) => {
      const now_ms = performance.now()
      const waiting = line.waiting
      reader.push(chunk, ({ body }) => {
        const { trace, is_approved } = read(body)
        report.latencies_ms.push(now_ms - (sent_ms[trace] as number))
        if (now_ms <= until) report.in_time += 1
        if (!is_approved) report.others += 1
        line.waiting -= 1
      })
      const answered = waiting - line.waiting
      if (answered > 0 && job.per_second === null && !isOver()) send(line, answered)
    })
    lines.push(line)
  }
  const cpu = process.cpuUsage()
  if (job.per_second === null) {
    for (const line of lines) send(line, job.in_flight / CONNECTIONS)
    while (!isOver()) await new Promise((done) => setTimeout(done, 10))
  } else {
    await pace(lines, send, { per_second: job.per_second, until })
  }
  const { user, system } = process.cpuUsage(cpu)
  report.cpu_us = user + system
  const ends = performance.now() + 3_000
  while (lines.some(({ waiting }) => waiting > 0) && performance.now() < ends) {
    await new Promise((done) => setTimeout(done, 10))
  }
  for (const { socket } of lines) socket.destroy()
  return report
}

/** An open loop: whether answers come or not, the next message leaves when it is due. */
async function pace(
  lines: readonly Line[],
  send: (line: Line, count: number) => void,
  { per_second, until }: { per_second: number; until: number },
): Promise<void> {
  const began = performance.now()
  for (let count = 0; performance.now() < until; ) {
    const due = Math.floor(((performance.now() - began) / 1_000) * per_second)
    for (; count < due; count += 1) {
      const line = lines[count % lines.length]
      if (line !== undefined) send(line, 1)
    }
    await new Promise((done) => setTimeout(done, 2))
  }
}

process.on('message', async (job: Job) => process.send?.(await run(job)))
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
