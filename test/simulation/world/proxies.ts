import { startChild } from './child.ts'

/** `cut` resets and refuses connections; `silent` forwards nothing, not even a close. */
export type LinkState = {
  mode: 'open' | 'cut' | 'silent'
  delay_ms: number
  /** The largest write; 0 forwards what arrived. */
  chunk_bytes: number
}

export const OPEN_LINK: LinkState = { mode: 'open', delay_ms: 0, chunk_bytes: 0 }

export type Proxies = {
  pid: number
  /** Listens for connections to this port; returns the proxy's port. */
  open(target_port: number): Promise<number>
  set(port: number, state: LinkState): Promise<void>
  stop(): Promise<void>
}

export function startProxies(log_file: string): Proxies {
  const child = startChild(new URL('./proxy_process.js', import.meta.url), { log_file })
  return {
    pid: child.pid,
    open: (target_port) => child.call('open', target_port),
    set: (port, state) => child.call('set', { port, state }),
    stop: async () => {
      child.kill('SIGKILL')
      await child.ended
    },
  }
}
