import { execFile, execFileSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { chmod, mkdir, rm, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** The disk of both database servers. */
export type DatabaseDisk = {
  folder: string
  /** False where no file system of our own can be mounted: only root on Linux can. */
  canBeFilled: boolean
  fill(): Promise<void>
  empty(): Promise<void>
  unmount(): void
}

const SIZE_MB = 4_096
const BLOCK = Buffer.alloc(4 * 1024 * 1024)

export async function mountDisk(parent: string): Promise<DatabaseDisk> {
  const folder = join(parent, 'disk')
  await mkdir(folder)
  await chmod(folder, 0o711)
  const canBeFilled = mount(folder)
  const ballast = join(folder, 'ballast')
  const unmount = () => {
    if (canBeFilled) execFileSync('umount', ['-l', folder], { stdio: 'ignore' })
    process.off('exit', unmount)
  }
  process.on('exit', unmount)
  return {
    folder,
    canBeFilled,
    fill: () => fill(ballast),
    empty: () => rm(ballast, { force: true }),
    unmount,
  }
}

function mount(folder: string): boolean {
  try {
    const options = `size=${SIZE_MB}m,mode=711`
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Reserves what is free, which takes no time, and writes until nothing more fits. */
async function fill(path: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path))
  const bytes = String(Math.max(1, bavail * bsize - BLOCK.length))
  await promisify(execFile)('fallocate', ['-l', bytes, path]).catch(() => undefined)
  const file = openSync(path, 'a')
  let size = BLOCK.length
  try {
    while (size > 0) {
      try {
        writeSync(file, BLOCK, 0, size)
      } catch {
        size = Math.floor(size / 8)
      }
    }
  } finally {
    closeSync(file)
  }
}
