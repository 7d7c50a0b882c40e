import { Command } from 'commander'
import { confirm } from './prompt.ts'

/** Commands that run and maintain the service, on the machine it runs on. */
export function serverCommands(): Command[] {
  return [
    new Command('start')
      .description('Start the service. Settings are FLORIN_… environment variables.')
      .option(
        '--log',
        'print the log; a terminal otherwise gets it in a file in the data directory',
      )
      .option(
        '--workers <count>',
        'processes that serve calls and card messages; default: cores - 1, at most 8',
      )
      .action(async (options) => (await import('./start.ts')).start(options)),
    new Command('demo')
      .description('Fill an empty sandbox with 90 days of data, to look at every page and chart.')
      .action(async () => (await import('./demo.ts')).demo()),
    new Command('signer')
      .description('Start the signer. It reads the seed phrase from stdin.')
      .option('--show', 'print the public keys for FLORIN_CHAINS and exit')
      .option('--cells <count>', 'with --show, print the hot wallets of this many cells')
      .option('--new-record', 'create the record of signed transfers (first start only)')
      .action(async (options) => (await import('./signer.ts')).startSigner(options)),
    new Command('migrate')
      .description('Apply pending database migrations and exit.')
      .action(async () => (await import('./migrate.ts')).runMigrations()),
    new Command('after-restore')
      .description('Prepare a database that was restored from a backup for its first start.')
      .option('--cell <number>', 'the restored cell, if there are several')
      .option('--yes', 'do not ask for confirmation')
      .action(async (options) => {
        await confirm('Pause payments and skip deposit addresses?', options)
        await (await import('./after_restore.ts')).afterRestore(options)
      }),
    new Command('doctor')
      .description('Check settings, database, chains and other dependencies, and suggest fixes.')
      .option('--json', 'print JSON')
      .action(async (options) => (await import('./doctor.ts')).doctor(options)),
    cells(),
    archive(),
    keys(),
    audit(),
    grants(),
    operator(),
  ]
}

function cells(): Command {
  const group = new Command('cells').description('List, open, close and move cells.')
  group
    .command('list')
    .description('List the cells with their state and number of accounts.')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./cells.ts')).cellsList(options))
  group
    .command('add')
    .description('Register the cells in FLORIN_CELLS. A start does the same.')
    .action(async () => (await import('./cells.ts')).cellsAdd())
  group
    .command('close <number>')
    .description('Send no new accounts to a cell. Its accounts keep working.')
    .action(async (number) => (await import('./cells.ts')).cellsChange(number, 'closed'))
  group
    .command('open <number>')
    .description('Send new accounts to a cell again.')
    .action(async (number) => (await import('./cells.ts')).cellsChange(number, 'open'))
  group
    .command('move <number>')
    .description('Move a cell to another PostgreSQL server while it works.')
    .option('--to <url>', 'its new address, for the nodes; - reads it from stdin')
    .option('--to-account <url>', 'its new account_url, if the cell has one')
    .option('--admin <url>', 'a superuser on the new server (default: the login of --to)')
    .option('--from <url>', 'a superuser on the old server (default: the URL in the settings)')
    .option('--cancel', 'end the move before its switch; the cell stays where it is')
    .option('--confirm', 'end the move after its switch, when all nodes have the new address')
    .action(async (number, options) => (await import('./cells_move.ts')).cellsMove(number, options))
  return group
}

function archive(): Command {
  const group = new Command('archive').description(
    'Move old movements and transactions from the database to files.',
  )
  group
    .command('create <folder>')
    .description('Archive the months that are old enough, and remove them from the database.')
    .option('--months <count>', 'keep this many months; default: FLORIN_RETAIN_HISTORY_MONTHS')
    .action(async (folder, options) =>
      (await import('./archive.ts')).archiveCreate(folder, options),
    )
  group
    .command('verify <folder>')
    .description('Prove that an archive, or all archives in a folder, are complete and unchanged.')
    .action(async (folder) => (await import('./archive.ts')).archiveVerify(folder))
  group
    .command('restore <folder>')
    .description('Load an archive into a schema of its own in any database, to look at it.')
    .requiredOption('--to <url>', 'the database; - reads the URL from stdin')
    .action(async (folder, options) =>
      (await import('./archive.ts')).archiveRestore(folder, options),
    )
  return group
}

function keys(): Command {
  const group = new Command('keys').description('Rotate and retire the keys in the key file.')
  group
    .command('rotate')
    .description(
      'Add a sealing key and a credential root. A running service switches over to them.',
    )
    .option('--activate-after <minutes>', 'minutes until the new credential root is used', '10')
    .action(async (options) => (await import('./keys.ts')).keysRotate(options))
  group
    .command('status')
    .description('Count the credentials that still depend on an earlier credential root.')
    .action(async () => (await import('./keys.ts')).keysStatus())
  group
    .command('retire')
    .description('Stop accepting earlier credential roots.')
    .option('--force', 'retire them even if credentials that depend on them stop working')
    .option('--yes', 'do not ask for confirmation')
    .action(async (options) => {
      await confirm('Stop accepting earlier credential roots?', options)
      await (await import('./keys.ts')).keysRetire(options)
    })
  return group
}

function audit(): Command {
  const group = new Command('audit').description('Prove the ledger and the audit log.')
  group
    .command('books')
    .description('Prove the books: balances match their movements, and all balances sum to zero.')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./audit_books.ts')).auditBooks(options))
  group
    .command('verify')
    .description("Verify the hash chain of every account's audit log.")
    .option('--json', 'print JSON')
    .option(
      '--save <file>',
      'save the last hash of each chain to this file; keep it on another machine',
    )
    .option(
      '--against <file>',
      'fail if a chain no longer contains a hash saved earlier with --save',
    )
    .action(async (options) => (await import('./audit_verify.ts')).auditVerify(options))
  return group
}

function grants(): Command {
  const group = new Command('grants').description('List and revoke the OAuth grants of agents.')
  group
    .command('list')
    .description('List grants, newest first.')
    .option('--account <id>', 'only grants of this account')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./grants.ts')).grantsList(options))
  group
    .command('revoke <id>')
    .description('Revoke a grant and all its tokens, immediately and permanently.')
    .option('--yes', 'do not ask for confirmation')
    .action(async (id, options) => {
      await confirm(`Revoke ${id} and all its tokens?`, options)
      await (await import('./grants.ts')).grantsRevoke(id)
    })
  return group
}

function operator(): Command {
  const group = new Command('operator').description(
    'Manage operator tokens, and call the operator API.',
  )
  group.commandsGroup('Operator tokens (run on the server):')
  group
    .command('create <name>')
    .description('Create an operator token. It is shown only once.')
    .requiredOption('--role <role>', 'viewer, support, risk or admin')
    .option('--totp', 'require an authenticator code at sign-in')
    .action(async (name, options) => (await import('./operator.ts')).operatorCreate(name, options))
  group
    .command('list')
    .description('List operator tokens without their secrets.')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./operator.ts')).operatorList(options))
  group
    .command('revoke <id-or-name>')
    .description('Revoke a token, immediately and permanently.')
    .option('--yes', 'do not ask for confirmation')
    .action(async (id_or_name, options) => {
      await confirm(`Revoke the operator token ${id_or_name}?`, options)
      await (await import('./operator.ts')).operatorRevoke(id_or_name)
    })
  group
    .command('totp <id-or-name>')
    .description('Replace the authenticator secret of a token and end its sessions.')
    .option('--yes', 'do not ask for confirmation')
    .action(async (id_or_name, options) => {
      await confirm(`Replace the authenticator of ${id_or_name} and end its sessions?`, options)
      await (await import('./operator.ts')).operatorTotp(id_or_name)
    })
  return group
}
