import { Command } from 'commander'

/** What runs the programme and looks after it, on the machine where it is. */
export function servingCommands(): Command[] {
  return [
    new Command('start')
      .description('Start the service; settings come from FLORIN_… variables.')
      .action(async () => (await import('./start.ts')).start()),
    new Command('signer')
      .description('Start the signer; the seed phrase comes by standard input.')
      .option('--show', 'only print what belongs into FLORIN_CHAINS, and stop')
      .option('--new-record', 'begin a record of signed transfers; for the first start only')
      .action(async (options) => (await import('./signer.ts')).startSigner(options)),
    new Command('migrate')
      .description('Bring the database up to date and stop.')
      .action(async () => (await import('./migrate.ts')).migrateOnly()),
    new Command('doctor')
      .description('Look at all that the service stands on, and say what to do about each fault.')
      .option('--json', 'print the findings as JSON')
      .action(async (options) => (await import('./doctor.ts')).doctor(options)),
    keys(),
    audit(),
    grants(),
    operator(),
  ]
}

function keys(): Command {
  const group = new Command('keys').description('Look after the key file.')
  group
    .command('rotate')
    .description('Add a sealing key and a credential root; a running service moves over to them.')
    .option('--activate-after <minutes>', 'when the credential root is first used', '10')
    .action(async (options) => (await import('./keys_rotate.ts')).keysRotate(options))
  group
    .command('status')
    .description('Show how much still depends on the credential root before the last rotation.')
    .action(async () => (await import('./keys_rotate.ts')).keysStatus())
  group
    .command('retire')
    .description('Stop accepting the credential root before the last rotation.')
    .option('--force', 'also where credentials that still depend on it stop working')
    .action(async (options) => (await import('./keys_rotate.ts')).keysRetire(options))
  return group
}

function audit(): Command {
  const group = new Command('audit').description('Prove that nothing was lost or tampered with.')
  group
    .command('books')
    .description('Prove the ledger: every balance follows from its entries, and all sum to zero.')
    .option('--json', 'print the report as JSON')
    .action(async (options) => (await import('./audit_books.ts')).auditBooks(options))
  group
    .command('verify')
    .description("Walk every account's audit chain.")
    .option('--json', 'print the report as JSON')
    .option('--save <file>', 'write down where each chain ends, to be kept elsewhere')
    .option('--against <file>', 'what was saved earlier: none of it may have changed')
    .action(async (options) => (await import('./audit_verify.ts')).auditVerify(options))
  return group
}

function grants(): Command {
  const group = new Command('grants').description('See and end what agents were allowed.')
  group
    .command('list')
    .description('What agents were allowed, newest first.')
    .option('--account <id>', 'only of this account')
    .option('--json', 'print the grants as JSON')
    .action(async (options) => (await import('./grants.ts')).grantsList(options))
  group
    .command('revoke <id>')
    .description('End a grant and every token under it, at once and for good.')
    .action(async (id) => (await import('./grants.ts')).grantsRevoke(id))
  return group
}

function operator(): Command {
  const group = new Command('operator').description(
    'Make tokens for those who run the programme, and call what they may.',
  )
  group.commandsGroup('Tokens, on the machine of the service:')
  group
    .command('create <name>')
    .description('Make a token and print it, this once.')
    .requiredOption('--role <role>', 'viewer, support, risk or admin')
    .option('--totp', 'ask for an authenticator code at sign-in')
    .action(async (name, options) => (await import('./operator.ts')).operatorCreate(name, options))
  group
    .command('list')
    .description('The tokens there are, without the tokens themselves.')
    .option('--json', 'print them as JSON')
    .action(async (options) => (await import('./operator.ts')).operatorList(options))
  group
    .command('revoke <id-or-name>')
    .description('End a token, at once and for good.')
    .action(async (which) => (await import('./operator.ts')).operatorRevoke(which))
  return group
}
