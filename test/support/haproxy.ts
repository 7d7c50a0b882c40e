import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import { eventually } from './eventually.ts'
import { freePort } from './port.ts'
import { findTool } from './tools.ts'

type Node = { http_port: number; card_host_port: number }

const SHIPPED = join(root, 'packaging/ha/haproxy.cfg')
const tls = (certificate: string) => `ssl crt /etc/haproxy/${certificate} alpn h2,http/1.1`

/** Replaces a part of the configuration, which must exist. */
function replacePart(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`packaging/ha/haproxy.cfg has no "${from}"`)
  return text.replaceAll(from, to)
}

/** The shipped configuration with another certificate, which HAProxy itself checks. */
export function checkHaproxyConfiguration(folder: string, certificate: string): void {
  const nodes = ['node1', 'node2'].reduce(
    (text, name) => replacePart(text, ` ${name}:`, ' 127.0.0.1:'),
    readFileSync(SHIPPED, 'utf8'),
  )
  const file = join(folder, 'haproxy_tls.cfg')
  const certified = ['florin.pem', 'florin_operator.pem'].reduce(
    (text, name) => replacePart(text, `/etc/haproxy/${name}`, certificate),
    nodes,
  )
  writeFileSync(file, certified)
  execFileSync(findTool('haproxy') ?? 'haproxy', ['-c', '-f', file], { stdio: 'pipe' })
}

/** HAProxy with the shipped configuration, with other addresses and without TLS. */
export async function startHaproxy(folder: string, [first, second]: readonly [Node, Node]) {
  const [port, operator_port, iso_port] = [await freePort(), await freePort(), await freePort()]
  const replaced = [
    [`bind :443 ${tls('florin.pem')}`, `bind 127.0.0.1:${port}`],
    [`bind :8443 ${tls('florin_operator.pem')}`, `bind 127.0.0.1:${operator_port}`],
    ['bind :8583', `bind 127.0.0.1:${iso_port}`],
    [' node1:8080', ` 127.0.0.1:${first.http_port}`],
    [' node2:8080', ` 127.0.0.1:${second.http_port}`],
    [' node1:8583 port 8080', ` 127.0.0.1:${first.card_host_port} port ${first.http_port}`],
    [' node2:8583 port 8080', ` 127.0.0.1:${second.card_host_port} port ${second.http_port}`],
    [' node1:8583', ` 127.0.0.1:${first.card_host_port}`],
    [' node2:8583', ` 127.0.0.1:${second.card_host_port}`],
    ['198.51.100.0/24', '127.0.0.0/8'],
    ['10.0.0.0/8', '127.0.0.0/8'],
  ] as const
  const text = replaced.reduce(
    (before, [from, to]) => replacePart(before, from, to),
    readFileSync(SHIPPED, 'utf8'),
  )
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, text)
  const child = spawn(findTool('haproxy') ?? 'haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  after(async () => {
    if (child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  })
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  if (!(await eventually(answers, { within_ms: 20_000 }))) throw new Error('no HAProxy in time')
  const operator_url = `http://127.0.0.1:${operator_port}`
  return { url, operator_url, card_host_port: iso_port }
}
