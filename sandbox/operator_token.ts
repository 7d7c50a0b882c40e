import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Secret } from '#kernel/secret.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Settings } from '#settings/settings.ts'

/** The configured token, or one that is created at the first start and stored with the data. */
export async function sandboxOperatorToken(settings: Settings, random: Random): Promise<Secret> {
  if (settings.operator_token !== null) return settings.operator_token
  const path = join(settings.data_dir, 'operator_token')
  const known = await readFile(path, 'utf8').catch(() => '')
  if (known.trim() !== '') return new Secret(known.trim())
  const token = `flo_test_${Buffer.from(random.bytes(24)).toString('hex')}`
  await mkdir(settings.data_dir, { recursive: true, mode: 0o711 })
  await writeFile(path, `${token}\n`, { mode: 0o600 })
  return new Secret(token)
}
