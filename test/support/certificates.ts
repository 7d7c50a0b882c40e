import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

/**
 * A certificate authority, its certificates for the host (localhost) and a peer, and a certificate
 * of another authority (stranger). Created for each test file and removed after it.
 */
export async function makeCertificates(): Promise<(name: string) => string> {
  const folder = await mkdtemp(join(tmpdir(), 'florin_tls_'))
  after(() => rm(folder, { recursive: true, force: true }))
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  const curve = ['-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const subject = (name: string) => ['-subj', `/CN=${name}`, ...curve, '-keyout', `${name}.key`]
  for (const authority of ['authority', 'stranger']) {
    const days = ['-days', '90', '-out', `${authority}.crt`]
    openssl('req', '-x509', ...subject(authority), ...days)
  }
  for (const name of ['localhost', 'peer']) {
    openssl('req', ...subject(name), '-out', `${name}.csr`)
    const signer = ['-CA', 'authority.crt', '-CAkey', 'authority.key', '-CAcreateserial']
    openssl('x509', '-req', '-in', `${name}.csr`, ...signer, '-out', `${name}.crt`, '-days', '60')
  }
  return (name) => join(folder, name)
}
