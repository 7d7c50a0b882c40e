import { readFileSync } from 'node:fs'
import { eventually } from './eventually.ts'

/** The process IDs of the workers of `florin start`. */
export function workerPids(parent: number): number[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
  const pids = children.split(' ').filter((text) => text !== '')
  return pids.map(Number).filter((pid) => commandOf(pid).includes('worker_process'))
}

/** Empty if the process has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

export function haveEnded(pids: readonly number[], within_ms: number): Promise<boolean> {
  return eventually(async () => pids.every((pid) => commandOf(pid) === ''), { within_ms })
}

/** The series of a metric, by the worker in its labels; other labels are added up. */
export function byWorker(metrics: string, name: string, labels = ''): Map<string, number> {
  const sums = new Map<string, number>()
  for (const line of metrics.split('\n')) {
    const [, found, value] = /^(.+)\{.*\} (.+)$/.exec(line) ?? []
    if (found !== name || !line.includes(labels)) continue
    const worker = /worker="(\d+)"/.exec(line)?.[1] ?? 'none'
    sums.set(worker, (sums.get(worker) ?? 0) + Number(value))
  }
  return sums
}

export const sumOf = (values: ReadonlyMap<string, number>): number =>
  [...values.values()].reduce((sum, value) => sum + value, 0)
