/**
 * Allowed imports in src: a floor may import itself and every floor listed before it. Each room of
 * the domain is a floor, so rooms cannot form a cycle: two rooms that need each other are one room,
 * or share a third.
 */
const floors = [
  'kernel',
  'contract',
  'iso8583',
  'platform',
  'rails',
  'settings',
  'domain/context',
  'domain/ledger',
  'domain/events',
  'domain/audit',
  'domain/credentials',
  'domain/operators',
  'domain/risk',
  'domain/directory',
  'domain/accounts',
  'domain/api_keys',
  'domain/balance',
  'domain/paid_calls',
  'domain/topups',
  'domain/budgets',
  'domain/withdrawals',
  'domain/cards',
  'domain/transactions',
  'domain/statements',
  'domain/disputes',
  'domain/authorizations',
  'domain/webhooks',
  'domain/oauth_grants',
  'domain/notices',
  'domain/activity',
  'domain/support',
  'domain/archive',
  'domain/system',
  'operations',
  'doors',
  'main',
]

/** The folders beside src that ship, and what each may import besides itself. */
const top_folders = {
  client: ['src/kernel', 'src/contract'],
  panel: ['src/kernel', 'src/contract', 'client'],
  sandbox: [
    ...['kernel', 'contract', 'iso8583', 'platform', 'rails', 'settings', 'domain/context'].map(
      inSrc,
    ),
    'client',
  ],
  cli: [...['kernel', 'contract', 'platform', 'settings', 'main'].map(inSrc), 'client', 'sandbox'],
}

function inSrc(/** @type {string} */ floor) {
  return `src/${floor}`
}
const pathIn = (/** @type {readonly string[]} */ folders) => `^(${folders.join('|')})/`

/** Tests are next to the code they test and may import everything, as may their helpers. */
const TEST = '([.]test[.]tsx?$|/test_support/)'
const OURS = pathIn(['src', 'client', 'panel', 'sandbox', 'cli', 'scripts', 'test', 'bench'])
const ON_A_FLOOR = pathIn(floors.map(inSrc))

/** @type {import('dependency-cruiser').IForbiddenRuleType[]} */
const forbidden = [
  ...floors.map((floor, index) => ({
    name: `${floor} imports only the floors before it`,
    from: { path: pathIn([inSrc(floor)]), pathNot: TEST },
    to: { path: OURS, pathNot: pathIn(floors.slice(0, index + 1).map(inSrc)) },
  })),
  ...Object.entries(top_folders).map(([folder, allowed]) => ({
    name: `${folder} imports only ${allowed.join(', ')}`,
    from: { path: pathIn([folder]), pathNot: TEST },
    to: { path: OURS, pathNot: pathIn([folder, ...allowed]) },
  })),
  {
    name: 'doors do not import each other',
    from: { path: '^src/doors/([^/]+)/', pathNot: TEST },
    to: { path: '^src/doors/[^/]+/', pathNot: '^src/doors/$1/' },
  },
  {
    name: 'files directly in doors/ do not import a door',
    from: { path: '^src/doors/[^/]+$', pathNot: TEST },
    to: { path: '^src/doors/[^/]+/' },
  },
  {
    name: 'every file in src is on a floor',
    from: { path: '^src/', pathNot: ON_A_FLOOR },
    to: {},
  },
  {
    name: 'code does not import tests',
    from: { pathNot: TEST },
    to: { path: TEST },
  },
  {
    name: 'the model of the simulation is written from the contract alone',
    from: { path: '^test/simulation/model/' },
    to: { path: OURS, pathNot: '^test/simulation/model/' },
  },
  {
    name: 'code that also runs in browsers does not import Node',
    from: { path: '^src/(kernel|contract)/', pathNot: TEST },
    to: { dependencyTypes: ['core'] },
  },
  { name: 'no cycles, type imports included', from: {}, to: { circular: true } },
  { name: 'every import exists', from: {}, to: { couldNotResolve: true } },
].map((rule) => ({ severity: 'error', ...rule }))

export default {
  forbidden,
  options: {
    tsPreCompilationDeps: true,
    exclude: { path: ['node_modules/', '^(dist|examples)/'] },
    enhancedResolveOptions: { conditionNames: ['import', 'types'], exportsFields: ['exports'] },
  },
}
