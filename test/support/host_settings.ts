import type { CardHostSettings } from '#doors/card_host/card_host.ts'

/** Sandbox settings of a card host on a free port, with overrides. */
export const hostSettings = (overrides: Partial<CardHostSettings> = {}): CardHostSettings => ({
  iso_port: 0,
  iso_host: '127.0.0.1',
  iso_tls: null,
  iso_peers: [],
  iso_connections_max: 512,
  iso_sign_on: 'optional',
  ...overrides,
})
