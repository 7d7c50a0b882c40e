import { access, constants, stat, statfs } from 'node:fs/promises'
import { systemRandom } from '#platform/runtime/random.ts'
import { readKeyFile } from '#platform/storage/key_file.ts'
import { sealFor } from '#platform/storage/key_seal.ts'
import type { Settings } from '#settings/settings.ts'
import { type Check, Note } from './check.ts'

const GIB = 1_024 ** 3
/** Less than this can fill up in one busy day. */
const FREE_MIN = GIB

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** The data folder, its disk and the key file. */
export function machineChecks({ data_dir, key_file, key_token }: Settings): Check[] {
  return [
    {
      name: 'data folder',
      cure: `Let the service's user write to ${data_dir}, or set FLORIN_DATA_DIR.`,
      run: async () => {
        if (!(await exists(data_dir))) return new Note(`${data_dir} is created at the first start`)
        await access(data_dir, constants.W_OK)
        return data_dir
      },
    },
    {
      name: 'disk',
      cure: 'Free some space, or move FLORIN_DATA_DIR to a larger disk.',
      run: async () => {
        const { bavail, bsize } = await statfs((await exists(data_dir)) ? data_dir : '.')
        const free = `${((bavail * bsize) / GIB).toFixed(1)} GiB free`
        if (bavail * bsize < FREE_MIN) throw new Error(free)
        return free
      },
    },
    {
      name: 'key file',
      cure: `Restore the backup of ${key_file}, owned by the service's user, with mode 600.`,
      run: async () => {
        if (!(await exists(key_file))) return new Note(`${key_file} is created at the first start`)
        const { mode } = await stat(key_file)
        if ((mode & 0o077) !== 0) throw new Error(`${key_file} is readable by other users`)
        const seal = sealFor(key_token, systemRandom)
        const { current } = await readKeyFile({ path: key_file, random: systemRandom, seal })
        return `${current} is the current key; keep a backup`
      },
    },
  ]
}
