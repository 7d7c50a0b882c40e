import { ConfigError, readSettings } from '#platform/config.ts'
import { rotateKeyFile } from '#platform/keys.ts'
import { systemRandom } from '#platform/random.ts'

/** The service need not stop: it reads the file again and re-seals card numbers by itself. */
export async function keysRotate(): Promise<void> {
  const { key_file } = readSettings(process.env)
  const key_id = await rotateKeyFile(key_file, systemRandom).catch((cause) => {
    if (cause.code !== 'ENOENT') throw cause
    throw new ConfigError(`There is no key file ${key_file} yet; the first start makes one.`)
  })
  process.stdout.write(
    `${key_id} is the current key of ${key_file} now. Keep the old ones: they open what they ` +
      'sealed, and backups too. Nodes with a copy of the file need the new one at once.\n',
  )
}
