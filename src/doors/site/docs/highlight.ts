import { html, type Markup } from '#doors/markup.ts'

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\`(?:[^\`\\]|\\.)*\``
const HASH = String.raw`(?<![^\s])#[^\n]*`
const SLASHES = String.raw`(?<![:\w])\/\/[^\n]*`
const NUMBER = String.raw`(?<![\w.:/-])\d[\d_]*(?:\.\d+)?(?![\w.:/-])`

type Language = { comment: string; keywords: string }

const script =
  'import|from|export|const|let|function|return|async|await|for|of|in|if|else|new|try|catch|' +
  'throw|class|true|false|null|undefined'
const SHELL = 'curl|florin|npm|node|export|if|then|else|fi|for|do|done|while'
const PYTHON =
  'import|from|def|return|if|else|for|in|not|or|and|with|as|class|True|False|None|await|async'
const languages: Readonly<Record<string, Language>> = {
  sh: { comment: HASH, keywords: SHELL },
  ts: { comment: SLASHES, keywords: script },
  js: { comment: SLASHES, keywords: script },
  python: { comment: HASH, keywords: PYTHON },
  py: { comment: HASH, keywords: PYTHON },
  bash: { comment: HASH, keywords: SHELL },
  go: {
    comment: SLASHES,
    keywords: 'package|import|func|var|return|if|else|for|range|type|struct|nil|true|false|defer',
  },
  sql: {
    comment: '--[^\\n]*',
    keywords: 'select|from|where|create|role|grant|to|with|login|password',
  },
  json: { comment: '(?!)', keywords: 'true|false|null' },
  yaml: { comment: HASH, keywords: 'true|false|null' },
}

/** Marks comments, strings, keywords and numbers. Other languages stay plain text. */
export function highlight(language: string, text: string): Markup {
  const rules = languages[language]
  if (rules === undefined) return html`${text}`
  const pattern = new RegExp(
    `(?<comment>${rules.comment})|(?<string>${STRING})|` +
      `(?<keyword>(?<![\\w.$/-])(?:${rules.keywords})(?![\\w-]))|(?<number>${NUMBER})`,
    'g',
  )
  const pieces: Markup[] = []
  let from = 0
  for (const match of text.matchAll(pattern)) {
    const [kind = ''] = Object.entries(match.groups ?? {}).find(([, part]) => part) ?? []
    pieces.push(html`${text.slice(from, match.index)}<span class="${kind}">${match[0]}</span>`)
    from = match.index + match[0].length
  }
  return html`${pieces}${text.slice(from)}`
}
