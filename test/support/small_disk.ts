import { execFileSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

export type SmallDisk = {
  path: string
  /** Leaves not one free block. */
  fill(): Promise<void>
  free(): Promise<void>
}

/** A file system of this size in memory; it is unmounted after the test file. */
export async function mountSmallDisk(megabytes: number, at?: string): Promise<SmallDisk> {
  const path = at ?? (await mkdtemp(join(tmpdir(), 'florin_disk_')))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', path])
  after(async () => {
    execFileSync('umount', ['-l', path])
    if (at === undefined) await rm(path, { recursive: true, force: true })
  })
  const ballast = join(path, 'ballast')
  return {
    path,
    fill: async () => {
      const file = await open(ballast, 'a')
      const { bavail, bsize } = statfsSync(path)
      const block = Buffer.alloc(bsize)
      await file.write(Buffer.alloc(Math.max(0, bavail - 1) * bsize)).catch(() => undefined)
      while (statfsSync(path).bavail > 0) await file.write(block).catch(() => undefined)
      await file.close()
    },
    free: () => rm(ballast, { force: true }),
  }
}
