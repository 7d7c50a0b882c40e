import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { assert } from '#kernel/assert.ts'
import { findProcess } from './process_table.ts'

const ATTEMPTS_MAX = 4

/**
 * Makes this process the only living owner of `dir`, and returns the way to give that up.
 *
 * Every contender first lays down a file named by its pid and start time, then looks at the others.
 * Of two that come at once at least one sees the other, so there are never two owners; and since a
 * name belongs to one process for ever, sweeping a dead one's file cannot hit a living one's. A
 * single lock file has no such takeover.
 */
export async function takeProcessLock(dir: string, what: string): Promise<() => Promise<void>> {
  const self = await findProcess(process.pid)
  assert(self !== null, 'the process that asks is alive')
  await mkdir(dir, { recursive: true })
  const own_name = `${process.pid}.${self.started}`
  const own_file = join(dir, own_name)

  for (let attempt = 1; ; attempt += 1) {
    await layDown(own_file, self.started, what)
    const owner_pid = await livingOwnerBeside(dir, own_name)
    if (owner_pid === null) return () => rm(own_file, { force: true })
    await rm(own_file, { force: true })
    if (attempt === ATTEMPTS_MAX) throw new Error(refusal(what, owner_pid))
    // Two that came at once have both stepped back; unequal pauses let one of them through.
    await sleep(20 + Math.random() * 100)
  }
}

/** In words who owns `dir` now; null where nobody does. */
export async function ownerOf(dir: string, what: string): Promise<string | null> {
  const pid = await livingOwnerBeside(dir, '').catch(() => null)
  return pid === null ? null : refusal(what, pid)
}

async function layDown(own_file: string, started: string, what: string): Promise<void> {
  const text = `${JSON.stringify({ pid: process.pid, started })}\n`
  await writeFile(own_file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new Error(refusal(what, process.pid)) : error
  })
}

async function livingOwnerBeside(dir: string, own_name: string): Promise<number | null> {
  for (const name of await readdir(dir)) {
    const [, pid_text, started] = /^(\d+)\.(.+)$/.exec(name) ?? []
    if (name === own_name || pid_text === undefined) continue
    const other = await findProcess(Number(pid_text))
    if (other?.started === started) return Number(pid_text)
    await rm(join(dir, name), { force: true })
  }
  return null
}

function refusal(what: string, pid: number): string {
  const who = pid === process.pid ? 'this very process' : 'another process'
  return `${what} is in use by ${who} (pid ${pid}). Stop it first, or choose another folder.`
}
