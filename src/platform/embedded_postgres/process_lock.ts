import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { assert } from '#kernel/assert.ts'
import { findProcess } from './process_table.ts'

const ATTEMPTS_MAX = 4

/**
 * Makes this process the only owner of `dir`; returns a function that releases it.
 *
 * Every contender first writes a file named by its pid and start time, then looks for others. Of
 * two concurrent ones at least one sees the other, so there are never two owners. A name belongs to
 * one process forever, so removing the file of a dead process cannot remove a living one's. A
 * single lock file could not be taken over safely.
 */
export async function takeProcessLock(dir: string, what: string): Promise<() => Promise<void>> {
  const self = await findProcess(process.pid)
  assert(self !== null, 'this process is alive')
  await mkdir(dir, { recursive: true })
  const own_name = `${process.pid}.${self.started}`
  const own_file = join(dir, own_name)

  for (let attempt = 1; ; attempt += 1) {
    await writeOwnFile(own_file, self.started, what)
    const owner_pid = await findOtherOwner(dir, own_name)
    if (owner_pid === null) return () => rm(own_file, { force: true })
    await rm(own_file, { force: true })
    if (attempt === ATTEMPTS_MAX) throw new Error(inUseMessage(what, owner_pid))
    // Two concurrent contenders have both backed off; random pauses let one of them through.
    await sleep(20 + Math.random() * 100)
  }
}

/** A sentence that names the owner of `dir`; null if there is none. */
export async function ownerOf(dir: string, what: string): Promise<string | null> {
  const pid = await findOtherOwner(dir, '').catch(() => null)
  return pid === null ? null : inUseMessage(what, pid)
}

async function writeOwnFile(own_file: string, started: string, what: string): Promise<void> {
  const text = `${JSON.stringify({ pid: process.pid, started })}\n`
  await writeFile(own_file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new Error(inUseMessage(what, process.pid)) : error
  })
}

async function findOtherOwner(dir: string, own_name: string): Promise<number | null> {
  for (const name of await readdir(dir)) {
    const [, pid_text, started] = /^(\d+)\.(.+)$/.exec(name) ?? []
    if (name === own_name || pid_text === undefined) continue
    const other = await findProcess(Number(pid_text))
    if (other?.started === started) return Number(pid_text)
    await rm(join(dir, name), { force: true })
  }
  return null
}

function inUseMessage(what: string, pid: number): string {
  const who = pid === process.pid ? 'this process' : 'another process'
  return `${what} is in use by ${who} (pid ${pid}). Stop it first, or choose another folder.`
}
