import { blankProse } from './blank.ts'
import {
  findViolations,
  folderOf,
  isCode,
  lineAt,
  nameOf,
  type SourceFile,
  type Violation,
} from './source.ts'

/** The folders beside src. `#` with any other name means a folder in src. */
const TOP_FOLDERS = ['client', 'panel', 'sandbox', 'cli', 'scripts', 'test', 'bench'] as const

/** An import of one of our files: the specifier as written, and the path it resolves to. */
type Import = { specifier: string; target: string; line: number }

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
  // package.json belongs to no floor.
  if (!specifier.startsWith('#') || specifier === '#package.json') return undefined
  const aliased = specifier.slice(1)
  return TOP_FOLDERS.some((folder) => aliased.startsWith(`${folder}/`)) ? aliased : `src/${aliased}`
}

/** All imports of a file in order; `target` only for our own files. */
export function modulesOf(file: SourceFile): (Omit<Import, 'target'> & { target?: string })[] {
  const code = blankProse(file.text)
  return [...code.matchAll(IMPORT)].map((match) => {
    const start = match.index + match[0].length
    const specifier = file.text.slice(start, code.indexOf(match[1] ?? '', start))
    const target = targetOf(file.path, specifier)
    const line = lineAt(file.text, start)
    return target === undefined ? { specifier, line } : { specifier, line, target }
  })
}

function importsOf(file: SourceFile): Import[] {
  return modulesOf(file).flatMap(({ specifier, line, target }) =>
    target === undefined ? [] : [{ specifier, line, target }],
  )
}

function importViolation(imported: Import, paths: ReadonlySet<string>): Omit<Violation, 'path'>[] {
  const { specifier, line, target } = imported
  if (specifier.startsWith('..')) {
    const fix = `Write #${target.replace(/^src\//, '')}`
    return [{ line, problem: `imports the parent path ${specifier}`, fix }]
  }
  if (!EXTENSION.test(specifier)) {
    const fix = `Write ${specifier}.ts`
    return [{ line, problem: `imports ${specifier} without its extension`, fix }]
  }
  if (paths.has(target)) return []
  const fix = `Create ${target}, or correct the import`
  return [{ line, problem: `imports ${specifier}, but ${target} does not exist`, fix }]
}

export function importViolations(files: readonly SourceFile[]): Violation[] {
  const paths = new Set(files.map(({ path }) => path))
  return files
    .filter(({ path }) => isCode(path))
    .flatMap((file) =>
      importsOf(file)
        .flatMap((imported) => importViolation(imported, paths))
        .map((violation) => ({ path: file.path, ...violation })),
    )
}

/** Configuration files and reporters must have a default export. */
const isToolConfiguration = (path: string): boolean =>
  /^(panel\/)?[^/]+\.config\.(ts|js|mjs)$|^scripts\/.+_reporter\.ts$/.test(path)

export function exportViolations(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => isCode(path) && !isToolConfiguration(path))
    .flatMap((file) => {
      const barrel: Violation = {
        path: file.path,
        line: 1,
        problem: 'is a barrel',
        fix: 'Import from the files themselves',
      }
      const defaults = findViolations(file, /\bexport default\b|\bas default\b/g, {
        problem: 'exports a default',
        fix: 'Export it by its name',
        within: blankProse(file.text),
      })
      return /^index\.(tsx?|m?js)$/.test(nameOf(file.path)) ? [barrel, ...defaults] : defaults
    })
}
