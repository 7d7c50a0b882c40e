import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SandboxHost } from '#domain/context/surface.ts'

/** A demo account, created at the first start and stored in the data folder. */
export type Demo = { email: string; password: string; api_key: string }

export async function seedDemo(host: SandboxHost): Promise<Demo & { is_new: boolean }> {
  const path = join(host.settings.data_dir, 'demo.json')
  const known = await readFile(path, 'utf8').then(
    (text) => JSON.parse(text) as Demo,
    () => null,
  )
  if (known !== null && (await host.call('get_account', {}, known.api_key)).status === 200) {
    return { ...known, is_new: false }
  }
  const demo = await makeDemo(host)
  await mkdir(host.settings.data_dir, { recursive: true })
  await writeFile(path, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  return { ...demo, is_new: true }
}

async function makeDemo(host: SandboxHost): Promise<Demo> {
  const letters = (count: number) => Buffer.from(host.random.bytes(count)).toString('hex')
  const password = `demo-${letters(6)}`
  const create = (email: string) => host.call('create_account', { email, password })
  let email = 'demo@florin.example'
  let account = await create(email)
  // The email is taken if the data folder was lost but the database was not.
  if (account.status === 409) {
    email = `demo-${letters(3)}@florin.example`
    account = await create(email)
  }
  const { bearer } = account.body
  if (typeof bearer !== 'string') throw new Error('the demo account could not be created')
  const key = await host.call('create_api_key', { name: 'Demo key' }, bearer)
  return { email, password, api_key: String(key.body['key']) }
}
