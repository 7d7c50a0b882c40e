import { Command } from 'commander'

/** Commands that run and maintain the service, on the machine it runs on. */
export function serverCommands(): Command[] {
  return [
    new Command('start')
      .description('Start the service. Settings are FLORIN_… environment variables.')
      .action(async () => (await import('./start.ts')).start()),
    new Command('signer')
      .description('Start the signer. It reads the seed phrase from stdin.')
      .option('--show', 'print the public keys for FLORIN_CHAINS and exit')
      .option('--new-record', 'create the record of signed transfers (first start only)')
      .action(async (options) => (await import('./signer.ts')).startSigner(options)),
    new Command('migrate')
      .description('Apply pending database migrations and exit.')
      .action(async () => (await import('./migrate.ts')).runMigrations()),
    new Command('doctor')
      .description('Check settings, database, chains and other dependencies, and suggest fixes.')
      .option('--json', 'print JSON')
      .action(async (options) => (await import('./doctor.ts')).doctor(options)),
    keys(),
    audit(),
    grants(),
    operator(),
  ]
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
    .action(async (options) => (await import('./keys.ts')).keysRetire(options))
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
    .action(async (id) => (await import('./grants.ts')).grantsRevoke(id))
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
    .action(async (id_or_name) => (await import('./operator.ts')).operatorRevoke(id_or_name))
  group
    .command('totp <id-or-name>')
    .description('Replace the authenticator secret of a token and end its sessions.')
    .action(async (id_or_name) => (await import('./operator.ts')).operatorTotp(id_or_name))
  return group
}
