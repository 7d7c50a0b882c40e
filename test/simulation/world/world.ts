import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHAIN_DEFAULTS, type ChainSettings } from '#rails/chain/chain_settings.ts'
import { USDT_ADDRESS } from '#sandbox/tron_node.ts'
import { freePort } from '#test/support/port.ts'
import { PostgresPair } from '#test/support/postgres_pair.ts'
import { CHAIN_ID, type Chain, startChain } from './chain.ts'
import { type DatabaseDisk, mountDisk } from './disk.ts'
import { FlorinNode, type NodeInput } from './nodes.ts'
import { OPEN_LINK, type Proxies, startProxies } from './proxies.ts'
import { type Signer, startSigner } from './signer.ts'

/** All processes of one simulation. */
export type World = {
  folder: string
  disk: DatabaseDisk
  postgres: PostgresPair
  proxies: Proxies
  /** The proxies' ports by node and database server. */
  links: readonly (readonly [number, number])[]
  chain: Chain
  signer: Signer
  nodes: readonly [FlorinNode, FlorinNode]
  /** Starts the process of a node with this clock error. */
  startNode(at: 0 | 1, skew_ms: number): Promise<void>
  /** The environment of CLI commands. */
  env: Record<string, string>
  operator_token: string
  /** The processes that must get a core in time. */
  pids(): readonly number[]
  /** Ends all processes and deletes their files, or keeps the files. */
  stop(keeps_files?: boolean): Promise<void>
}

const FLOAT_USD = 10_000_000
const OPERATOR_TOKEN = 'operator_token_of_the_simulation'

const SETTINGS = {
  FLORIN_RATE_PROFILE: 'off',
  // Clients open an account every few seconds; a live hash would take most of a core.
  FLORIN_PASSWORD_HASH_MIB: '1',
  FLORIN_OPERATOR_TOKEN: OPERATOR_TOKEN,
  FLORIN_RISK: JSON.stringify({ partial_approvals: true }),
}

export async function startWorld(skews_ms: readonly [number, number]): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'florin_simulation_'))
  const log = (name: string) => join(folder, `${name}.log`)
  const data_dir = join(folder, 'data')
  const disk = await mountDisk(folder)
  const [postgres, chain] = await Promise.all([
    PostgresPair.start(folder, { disk: disk.folder }),
    startChain(log('chain')),
  ])
  // The servers are no children of Node, so they would outlive an interrupted run.
  const killServers = () => {
    for (const { process: server } of postgres.servers) server?.kill('SIGKILL')
  }
  process.on('exit', killServers)
  const signer = await startSignerIn(data_dir)
  const proxies = startProxies(log('proxy'))
  const links = await openLinks(proxies, postgres)
  const chains = [tronSettings(chain, signer)]
  const signer_socket = join(folder, 'signer.sock')
  await chain.endow({ hot_wallet: signer.hot_wallet, float_micros: BigInt(FLOAT_USD) * 1_000_000n })
  await signer.serve({ chains, socket: signer_socket })
  const env = { ...SETTINGS, FLORIN_DATA_DIR: data_dir }
  const ports = await Promise.all(
    links.map(async () => ({ port: await freePort(), iso_port: await freePort() })),
  )
  // Tokens are for the programme's address, which is the same on every node.
  const FLORIN_PUBLIC_URL = `http://127.0.0.1:${ports[0]?.port}`
  const nodes = links.map(([first, second], at) => {
    const FLORIN_DATABASE_URL = postgres.urlOf(first, second)
    const { port = 0, iso_port = 0 } = ports[at] ?? {}
    const node_env = { ...env, FLORIN_PUBLIC_URL, FLORIN_DATABASE_URL }
    return new FlorinNode({ port, iso_port, env: node_env, log_file: log(`node${at}`) })
  })
  const [first, second] = nodes
  if (first === undefined || second === undefined) throw new Error('there are two nodes')
  const inputOf = (skew_ms: number): NodeInput => ({ skew_ms, chains, signer_socket })
  await first.start(inputOf(skews_ms[0]))
  await second.start(inputOf(skews_ms[1]))
  return {
    folder,
    disk,
    postgres,
    proxies,
    links,
    chain,
    signer,
    nodes: [first, second],
    startNode: (at, skew_ms) => (at === 0 ? first : second).start(inputOf(skew_ms)),
    env: { ...env, FLORIN_CHAINS: JSON.stringify(chains) },
    operator_token: OPERATOR_TOKEN,
    pids: () => [process.pid, proxies.pid, first.pid, second.pid],
    stop: async (keeps_files = false) => {
      await Promise.all(nodes.map((node) => node.stop('SIGKILL')))
      await signer.kill()
      await Promise.all([chain.stop(), proxies.stop(), postgres.stop()])
      process.off('exit', killServers)
      disk.unmount()
      if (!keeps_files) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function startSignerIn(data_dir: string): Promise<Signer> {
  await mkdir(data_dir, { recursive: true })
  return startSigner({ data_dir, key_file: join(data_dir, 'keys.json') })
}

function openLinks(
  proxies: Proxies,
  { servers }: PostgresPair,
): Promise<readonly (readonly [number, number])[]> {
  const [first, second] = servers
  const linksOfNode = async () =>
    [await proxies.open(first.port), await proxies.open(second.port)] as const
  return Promise.all([linksOfNode(), linksOfNode()])
}

/** Opens every link of the node again. */
export async function healLinks(world: World, at: 0 | 1): Promise<void> {
  for (const port of world.links[at] ?? []) await world.proxies.set(port, OPEN_LINK)
}

function tronSettings({ url }: Chain, { xpub, hot_wallet }: Signer): ChainSettings {
  return {
    ...CHAIN_DEFAULTS,
    chain: 'tron',
    family: 'tron',
    url,
    xpub,
    hot_wallet,
    assets: [{ asset: 'USDT', contract: USDT_ADDRESS, decimals: 6, float_usd: FLOAT_USD }],
    chain_id: CHAIN_ID,
  }
}
