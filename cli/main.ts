import { Command } from 'commander'
import manifest from '#package.json' with { type: 'json' }
import { ConfigError } from '#platform/config.ts'
import { auditBooks } from './audit_books.ts'
import { auditVerify } from './audit_verify.ts'
import { grantsList, grantsRevoke } from './grants.ts'
import { keysRotate } from './keys_rotate.ts'
import { listen } from './listen.ts'
import { migrateOnly } from './migrate.ts'
import { operatorCreate, operatorList, operatorRevoke } from './operator.ts'
import { startSigner } from './signer.ts'
import { start } from './start.ts'

const program = new Command('florin')
  .description('Run and look after a Florin card programme.')
  .version(manifest.version)

program
  .command('start')
  .description('Start the service; settings come from FLORIN_… variables.')
  .action(start)

program
  .command('signer')
  .description('Start the signer; the seed phrase comes by standard input.')
  .action(startSigner)

program
  .command('migrate')
  .description('Bring the database up to date and stop.')
  .action(migrateOnly)

program
  .command('keys')
  .description('Look after the key file.')
  .command('rotate')
  .description('Add a new key and make it the current one; a running service re-seals under it.')
  .action(keysRotate)

const audit = program.command('audit').description('Prove that nothing was lost or tampered with.')

audit
  .command('books')
  .description('Prove the ledger: every balance follows from its entries, and all sum to zero.')
  .option('--json', 'print the report as JSON')
  .action(auditBooks)

audit
  .command('verify')
  .description("Walk every account's audit chain.")
  .option('--json', 'print the report as JSON')
  .action(auditVerify)

const grants = program.command('grants').description('See and end what agents were allowed.')

grants
  .command('list')
  .description('What agents were allowed, newest first.')
  .option('--account <id>', 'only of this account')
  .option('--json', 'print the grants as JSON')
  .action(grantsList)

grants
  .command('revoke <id>')
  .description('End a grant and every token under it, at once and for good.')
  .action(grantsRevoke)

program
  .command('listen')
  .description('Print events of a sandbox on this machine as they happen, and forward them signed.')
  .option('--forward <url>', 'where to send each event, e.g. http://127.0.0.1:3000/hook')
  .option('--key <key>', 'an API key; FLORIN_API_KEY serves too')
  .option('--events <types>', 'event types, separated by commas', '*')
  .option('--url <url>', 'where the sandbox is', 'http://127.0.0.1:8080')
  .action(listen)

const operator = program
  .command('operator')
  .description('Look after the tokens of those who run the programme.')

operator
  .command('create <name>')
  .description('Make a token and print it, this once.')
  .requiredOption('--role <role>', 'viewer, support, risk or admin')
  .action(operatorCreate)

operator
  .command('list')
  .description('The tokens there are, without the tokens themselves.')
  .option('--json', 'print them as JSON')
  .action(operatorList)

operator
  .command('revoke <id-or-name>')
  .description('End a token, at once and for good.')
  .action(operatorRevoke)

try {
  await program.parseAsync()
} catch (cause) {
  if (!(cause instanceof ConfigError)) throw cause
  process.stderr.write(`${cause.message}\n`)
  process.exitCode = 78
}
