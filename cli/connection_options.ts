import type { Command } from 'commander'

export const addServerOptions = (command: Command): Command =>
  command
    .option('--server <url>', 'server URL (or set FLORIN_URL)')
    .option('--profile <name>', 'profile saved by `florin login`')

export const addConnectionOptions = (command: Command): Command =>
  addServerOptions(command).option(
    '--key <key>',
    'API key, session or access token (or set FLORIN_KEY)',
  )
