/** Settings of every node in tests and benches: free ports, and no rate limits. */
export const node_env = {
  FLORIN_PORT: '0',
  FLORIN_ISO_PORT: '0',
  FLORIN_RATE_PROFILE: 'off',
} as const
