/** Parts of a file: code without prose, its comments, its strings, and Markdown. */
export type Part = 'code' | 'comments' | 'strings' | 'docs'

type AllowedUse = { pattern: RegExp; reason: string }

/** A word that the glossary replaced, and the term to write instead. */
export type BannedWord = {
  pattern: RegExp
  use: string
  within: readonly Part[]
  allowed?: readonly AllowedUse[]
}

const code: readonly Part[] = ['code']
const prose: readonly Part[] = ['comments', 'strings', 'docs']
const everywhere: readonly Part[] = [...code, ...prose]

/** Matches the words on their own and inside camelCase, snake_case and CONSTANT_CASE names. */
export function words(list: string): RegExp {
  const forms = list.split(' ').flatMap((word) => {
    const capitalized = word.charAt(0).toUpperCase() + word.slice(1)
    return [
      `(?<![A-Za-z])${word}(?![a-z])`,
      `(?<![A-Z])${capitalized}(?![a-z])`,
      `(?<![A-Za-z])${word.toUpperCase()}(?![A-Za-z])`,
    ]
  })
  return new RegExp(forms.join('|'), 'g')
}

const DISPUTE_ANSWER: AllowedUse = {
  pattern: /disputes?\/[^\s'"`]*answer|`answer`|'answer(?:ed)?'|=> answered|\banswered:/g,
  reason: 'the contract names the merchant’s response to a dispute so',
}

/** The "now" column of the list of terms that were replaced before 0.2. */
export const banned_words: readonly BannedWord[] = [
  { pattern: words('journey journeys'), use: 'round trip', within: everywhere },
  { pattern: words('blot blots blotted'), use: 'mask', within: everywhere },
  { pattern: words('farewell'), use: 'shutdown grace', within: everywhere },
  { pattern: words('whoever whomever'), use: 'anyone who', within: everywhere },
  { pattern: words('lawful unlawful'), use: 'valid', within: everywhere },
  { pattern: words('law laws'), use: 'rule', within: everywhere },
  {
    pattern: words('unpriced'),
    use: 'awaiting conversion',
    within: everywhere,
    allowed: [{ pattern: /Unpriced calls|unpriced calls/g, reason: 'calls without an x402 price' }],
  },
  { pattern: /\bat once\b/gi, use: 'immediately, or at the same time', within: everywhere },
  { pattern: /\bfor good\b/gi, use: 'permanently', within: everywhere },
  { pattern: /\bthis once\b/gi, use: 'only once', within: everywhere },
  {
    pattern: words('told telling tells tell'),
    use: 'emit, notify, report or show',
    within: everywhere,
    allowed: [
      {
        pattern: /\b(?:can|can't|cannot|could not) tell\b|\btells? [^.]{1,80}\b(?:from|apart)\b/g,
        reason: 'to distinguish',
      },
      {
        pattern: /what the merchant told you|then tell the user|[Tt]ells? screen readers/g,
        reason: 'people speak with each other',
      },
    ],
  },
  { pattern: words('hear hears heard'), use: 'onNotify or receive', within: everywhere },
  { pattern: words('seam seams'), use: 'Dependencies', within: everywhere },
  { pattern: words('bell'), use: 'ActivityNotifier', within: everywhere },
  { pattern: words('till'), use: 'PaymentContext, or until', within: everywhere },
  {
    pattern: words('moment moments'),
    use: 'timestamp or time',
    within: everywhere,
    allowed: [{ pattern: /\bin a moment\b/g, reason: 'ordinary advice to wait' }],
  },
  { pattern: words('beat beats'), use: 'tick', within: everywhere },
  {
    pattern: /\b(?:a|one|each|every|next|last|this|its|whose) pass(?:es)?\b(?! over)/gi,
    use: 'run',
    within: prose,
  },
  { pattern: /[a-z_]Pass(?:es)?\b|_pass\b|\bPASS_|_PASS\b/g, use: 'run', within: code },
  { pattern: /\buseAct\b/g, use: 'useOperationMutation', within: everywhere },
  {
    pattern: /\b(?:an|each|every|the|this|whose|of) acts?\b/gi,
    use: 'action',
    within: prose,
  },
  { pattern: /\bacts?\b|\bActs?\b/g, use: 'action', within: code },
  { pattern: words('visit visits visitor'), use: 'RequestContext', within: everywhere },
  { pattern: words('facts'), use: 'RequestContext', within: code },
  { pattern: /\be-mails?\b/gi, use: 'email', within: everywhere },
  { pattern: /\bour offer\b/gi, use: 'MCP capabilities', within: everywhere },
  { pattern: words('gather gathers gathered gathering'), use: 'batch', within: everywhere },
  { pattern: words('standing'), use: 'snapshot or rate status', within: everywhere },
  {
    pattern: /\bstands\b(?! for)|\bstand (?:in|there|at|anywhere)\b/gi,
    use: 'is',
    within: prose,
  },
  { pattern: /\blookUp\b/g, use: 'loadBatch', within: code },
  {
    pattern: words('world'),
    use: 'external, or SandboxHost',
    within: everywhere,
    allowed: [
      {
        pattern: /'world'|\.world\b|\{ world \}|=> world\b|\bworld(?=: [[ts]|, pool)/g,
        reason: 'saved files of the sandbox’s chains call their state so',
      },
    ],
  },
  {
    pattern: words('answer answers answered answering'),
    use: 'response',
    within: ['docs'],
    allowed: [DISPUTE_ANSWER],
  },
  {
    pattern:
      /\b(?:account|purchase)_?heads?\b|\bheads? of (?:an?|the|each|its) (?:account|purchase)\b/gi,
    use: 'account sequence row, or authorization',
    within: everywhere,
  },
  { pattern: /\bsay (?:its|the) dollars\b/gi, use: 'enter the USD amount', within: everywhere },
  { pattern: /\b(?:type|interface|class) Programme\b/g, use: 'Runtime', within: code },
  { pattern: /\bnot known who asks\b/gi, use: 'authentication failed', within: everywhere },
  { pattern: /\bthe right form\b/gi, use: 'is not a valid …', within: everywhere },
  {
    pattern: /\bPick<\s*(?:Dependencies|Runtime|Seams)\b/g,
    use: 'a named interface of dependencies, or take the values',
    within: code,
  },
  {
    pattern: /\b(?:type|interface) (?:Ask(?:ed|ing)|Given|Told|Wanted|Needs|Found|Seen|Shown)\b/g,
    use: 'a noun that says what the type holds',
    within: code,
  },
  {
    pattern: /\b(?:type|interface) (?:Parts|Running|Done|Taken|Sent|Kept|Made)\b/g,
    use: 'a noun that says what the type holds',
    within: code,
  },
]
