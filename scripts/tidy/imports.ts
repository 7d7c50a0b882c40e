import { withoutProse } from './blank.ts'
import {
  type Complaint,
  complaintsWhere,
  folderOf,
  isCode,
  lineAt,
  nameOf,
  type SourceFile,
} from './source.ts'

/** The folders beside src; `#` and any other name means a folder in src. */
export const ANNEXES = ['client', 'panel', 'sandbox', 'cli', 'scripts', 'test', 'bench'] as const

/** An import of our own file: as it is written, and the path from the root that it means. */
export type Import = { specifier: string; target: string; line: number }

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*(['"])/g
const EXTENSION = /\.(tsx?|m?js|json|css|svg|html|txt|sql)$/

function joined(folder: string, specifier: string): string {
  const parts = folder === '' ? [] : folder.split('/')
  for (const part of specifier.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.') parts.push(part)
  }
  return parts.join('/')
}

function targetOf(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return joined(folderOf(path), specifier)
  // The manifest is a fact of the whole package, not a file of a floor.
  if (!specifier.startsWith('#') || specifier === '#package.json') return undefined
  const aliased = specifier.slice(1)
  return ANNEXES.some((annex) => aliased.startsWith(`${annex}/`)) ? aliased : `src/${aliased}`
}

/** Every module a file names, in the order it names them; `target` only for files of ours. */
export function modulesOf(file: SourceFile): (Omit<Import, 'target'> & { target?: string })[] {
  const code = withoutProse(file.text)
  return [...code.matchAll(IMPORT)].map((match) => {
    const start = match.index + match[0].length
    const specifier = file.text.slice(start, code.indexOf(match[1] ?? '', start))
    const target = targetOf(file.path, specifier)
    const line = lineAt(file.text, start)
    return target === undefined ? { specifier, line } : { specifier, line, target }
  })
}

export function importsOf(file: SourceFile): Import[] {
  return modulesOf(file).flatMap(({ specifier, line, target }) =>
    target === undefined ? [] : [{ specifier, line, target }],
  )
}

function complaintAbout(imported: Import, paths: ReadonlySet<string>): Omit<Complaint, 'path'>[] {
  const { specifier, line, target } = imported
  if (specifier.startsWith('..')) {
    const cure = `Write #${target.replace(/^src\//, '')}`
    return [{ line, what: `climbs out of its folder with ${specifier}`, cure }]
  }
  if (!EXTENSION.test(specifier)) {
    const cure = `Write ${specifier}.ts: a name means one file, everywhere`
    return [{ line, what: `imports ${specifier} without its extension`, cure }]
  }
  if (paths.has(target)) return []
  const cure = `Write ${target}, or name the file that is meant`
  return [{ line, what: `imports ${specifier}, and there is no ${target}`, cure }]
}

export function importComplaints(files: readonly SourceFile[]): Complaint[] {
  const paths = new Set(files.map(({ path }) => path))
  return files
    .filter(({ path }) => isCode(path))
    .flatMap((file) =>
      importsOf(file)
        .flatMap((imported) => complaintAbout(imported, paths))
        .map((complaint) => ({ path: file.path, ...complaint })),
    )
}

/** The configuration of a tool, at the root or of the panel, has the form its tool asks for. */
const isToolConfiguration = (path: string): boolean =>
  /^(panel\/)?[^/]+\.config\.(ts|js|mjs)$|^scripts\/.+_reporter\.ts$/.test(path)

export function exportComplaints(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter(({ path }) => isCode(path) && !isToolConfiguration(path))
    .flatMap((file) => {
      const barrel: Complaint = {
        path: file.path,
        line: 1,
        what: 'is a barrel',
        cure: 'Import from the files themselves, and give what is left here the name of its idea',
      }
      const defaults = complaintsWhere(file, /\bexport default\b|\bas default\b/g, {
        what: 'exports a default',
        cure: 'Export it by its name',
        within: withoutProse(file.text),
      })
      return /^index\.(tsx?|m?js)$/.test(nameOf(file.path)) ? [barrel, ...defaults] : defaults
    })
}
