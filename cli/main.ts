import { Command } from 'commander'
import manifest from '#package.json' with { type: 'json' }
import { ConfigError } from '#platform/config.ts'
import { auditVerify } from './audit_verify.ts'
import { migrateOnly } from './migrate.ts'
import { start } from './start.ts'

const program = new Command('florin')
  .description('Run and look after a Florin card programme.')
  .version(manifest.version)

program
  .command('start')
  .description('Start the service; settings come from FLORIN_… variables.')
  .action(start)

program
  .command('migrate')
  .description('Bring the database up to date and stop.')
  .action(migrateOnly)

program
  .command('audit')
  .description('Prove that nothing was tampered with.')
  .command('verify')
  .description("Walk every account's audit chain.")
  .option('--json', 'print the report as JSON')
  .action(auditVerify)

try {
  await program.parseAsync()
} catch (cause) {
  if (!(cause instanceof ConfigError)) throw cause
  process.stderr.write(`${cause.message}\n`)
  process.exitCode = 78
}
