import { Command } from 'commander'
import { addConnectionOptions, addServerOptions } from './connection_options.ts'

/** Login and developer tools. The operations of the API have commands of their own. */
export function clientCommands(): Command[] {
  return [login(), logout(), profiles(), approvals(), listen(), trigger(), completion()]
}

const login = () =>
  addServerOptions(new Command('login'))
    .description('Log in and save credentials on this machine. Opens the browser by default.')
    .option('--key <key>', 'log in with an API key; - reads it from stdin')
    .option('--email <email>', 'log in with email and password, for 30 days')
    .option('--password <password>', 'with --email; prompts if missing, - reads it from stdin')
    .option('--totp_code <code>', 'with --email, if two-factor authentication is on')
    .option('--scope <scopes>', 'scopes to request in the browser, separated by spaces')
    .option('--no-browser', 'print the login URL instead of opening it')
    .action(async (options) => (await import('./profiles/login.ts')).login(options))

const logout = () =>
  new Command('logout')
    .description('End the session or revoke the token of a profile, and delete the profile.')
    .option('--profile <name>', 'profile to log out (default: the current one)')
    .action(async (options) => (await import('./profiles/login.ts')).logout(options))

function profiles(): Command {
  const group = new Command('profiles').description('Manage credentials saved on this machine.')
  group
    .command('list', { isDefault: true })
    .description('List profiles. A star marks the current one.')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./profiles/login.ts')).listProfiles(options))
  group
    .command('use <name>')
    .description('Make a profile the current one.')
    .action(async (name) => (await import('./profiles/login.ts')).useProfile(name))
  return group
}

function approvals(): Command {
  const group = new Command('approvals').description(
    'List and decide the calls of agents that exceed their budget.',
  )
  addConnectionOptions(group.command('list', { isDefault: true }))
    .description('List the approvals that wait for you.')
    .option('--all', 'list decided and expired ones too')
    .option('--watch', 'keep showing the list as it changes')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./approvals.ts')).listApprovals(options))
  for (const decision of ['approve', 'decline'] as const) {
    addConnectionOptions(group.command(`${decision} <id>`))
      .description(`${decision === 'approve' ? 'Approve' : 'Decline'} a call; requires a session.`)
      .option('--json', 'print JSON')
      .action(async (id, options) =>
        (await import('./approvals.ts')).decideApproval(id, decision, options),
      )
  }
  return group
}

const listen = () =>
  addConnectionOptions(new Command('listen'))
    .description('Print webhook events of a local sandbox as they happen, and forward them.')
    .option('--forward <url>', 'send each event here, e.g. http://127.0.0.1:3000/hook')
    .option('--events <types>', 'event types, separated by commas', '*')
    .action(async (options) => (await import('./listen.ts')).listen(options))

const trigger = () =>
  addConnectionOptions(new Command('trigger'))
    .description('Make a sandbox emit an event by performing the actions that cause it.')
    .argument('<event>', 'one of the 18 event types, e.g. card.frozen')
    .option('--email <email>', 'account for account.created and account.signed_in (default: new)')
    .option('--password <password>', 'with --email')
    .action(async (type, options) => (await import('./sandbox/trigger.ts')).trigger(type, options))

const completion = () =>
  new Command('completion')
    .description('Print a shell completion script for commands and flags.')
    .argument('<shell>', 'bash, zsh or fish')
    .action(async (shell, _options, command: Command) => {
      const { printCompletion } = await import('./completion.ts')
      printCompletion(shell, command.parent ?? command)
    })
