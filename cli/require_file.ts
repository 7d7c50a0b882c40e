import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { UsageError } from './exit_codes.ts'

/** Refuses a path after a flag that cannot be read. A pipe such as /dev/fd/63 can. */
export async function requireFile(flag: string, path: string): Promise<void> {
  const isReadable = await access(path, constants.R_OK).then(
    async () => !(await stat(path)).isDirectory(),
    () => false,
  )
  if (isReadable) return
  throw new UsageError(`--${flag} must be a file that can be read (got "${path}").`)
}
