import type { ChainSettings } from '#rails/chain/chain_settings.ts'
import { type Child, startChild } from './child.ts'

export type NodeInput = {
  skew_ms: number
  chains: readonly ChainSettings[]
  signer_socket: string
}

export type NodeSettings = {
  port: number
  iso_port: number
  log_file: string
  env: Record<string, string>
}

/** One of the two nodes: always on the same ports, in changing processes. */
export class FlorinNode {
  readonly url: string
  readonly iso_port: number
  readonly #settings: NodeSettings
  #child: Child | null = null
  /** Called if the process ends by itself. */
  onCrash: () => void = () => undefined

  constructor(settings: NodeSettings) {
    this.#settings = settings
    this.url = `http://127.0.0.1:${settings.port}`
    this.iso_port = settings.iso_port
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Starts a process and waits until it serves. */
  async start(input: NodeInput): Promise<void> {
    const { port, iso_port, env, log_file } = this.#settings
    this.#child = startChild(new URL('./node_process.js', import.meta.url), {
      env: {
        ...env,
        FLORIN_PORT: String(port),
        FLORIN_ISO_PORT: String(iso_port),
        NODE_INPUT: JSON.stringify(input),
        NODE_OPTIONS: '--max-semi-space-size=32',
      },
      log_file,
    })
    const child = this.#child
    void child.ended.then(() => {
      if (this.#child === child) this.onCrash()
    })
    await child.call('ready')
  }

  /** How far its clock was advanced; null while the process is down. */
  async offset(): Promise<number | null> {
    return (await this.#child?.call<number>('offset').catch(() => null)) ?? null
  }

  /** Throws this often at these failpoints. */
  async fail(points: readonly string[], times: number): Promise<void> {
    await this.#child?.call('fail', { points, times })
  }

  /** SIGKILL, or SIGTERM for an orderly stop; resolves when the process has ended. */
  async stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child
    this.#child = null
    child?.kill(signal)
    await child?.ended
  }
}
