import { Command } from 'commander'

const withServer = (command: Command): Command =>
  command
    .option('--server <url>', 'where the programme is; FLORIN_URL serves too')
    .option('--profile <name>', 'a profile of `florin login`')

const withKey = (command: Command): Command =>
  withServer(command).option('--key <key>', 'an API key or another bearer; FLORIN_KEY serves too')

/** Getting in, and what a developer has beside the operations themselves. */
export function connectingCommands(): Command[] {
  return [login(), logout(), profiles(), listen(), trigger(), completion()]
}

const login = () =>
  withServer(new Command('login'))
    .description(
      'Keep a way in. In the browser, where you choose what to allow; with --key; or with --email.',
    )
    .option('--key <key>', 'an API key; - reads it from standard input')
    .option('--email <email>', 'sign in with e-mail and password, for 30 days')
    .option('--password <password>', 'with --email; asked for where it is missing, - reads it')
    .option('--totp_code <code>', 'with --email, where two-factor sign-in is on')
    .option('--scope <scopes>', 'what to ask for in the browser, separated by spaces')
    .option('--no-browser', 'print the address and do not open it')
    .action(async (options) => (await import('./profiles/login.ts')).login(options))

const logout = () =>
  new Command('logout')
    .description('End the session or token of a profile and forget it.')
    .option('--profile <name>', 'which one; the current one without it')
    .action(async (options) => (await import('./profiles/login.ts')).logout(options))

function profiles(): Command {
  const group = new Command('profiles').description('The ways in that are kept on this machine.')
  group
    .command('list', { isDefault: true })
    .description('All of them; the current one is starred.')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./profiles/login.ts')).listProfiles(options))
  group
    .command('use <name>')
    .description('Make one the current one.')
    .action(async (name) => (await import('./profiles/login.ts')).useProfile(name))
  return group
}

const listen = () =>
  withKey(new Command('listen'))
    .description('Print events of a sandbox on this machine as they happen, and forward them.')
    .option('--forward <url>', 'where to send each event, e.g. http://127.0.0.1:3000/hook')
    .option('--events <types>', 'event types, separated by commas', '*')
    .action(async (options) => (await import('./listen.ts')).listen(options))

const trigger = () =>
  withKey(new Command('trigger'))
    .description('Make a sandbox produce an event, by doing what it tells of.')
    .argument('<event>', 'one of the 18 types, e.g. card.frozen')
    .option('--email <email>', 'whose account.created or account.signed_in; a new one without it')
    .option('--password <password>', 'with --email')
    .action(async (type, options) => (await import('./sandbox/trigger.ts')).trigger(type, options))

const completion = () =>
  new Command('completion')
    .description('Print a script that lets a shell complete commands and flags.')
    .argument('<shell>', 'bash, zsh or fish')
    .action(async (shell, _options, command: Command) => {
      const { printCompletion } = await import('./completion.ts')
      printCompletion(shell, command.parent ?? command)
    })
