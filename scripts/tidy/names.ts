import { type Complaint, isCode, isTest, nameOf, type SourceFile } from './source.ts'

const SNAKE_CASE = /^[a-z0-9]+(?:_[a-z0-9]+)*(?:\.[a-z0-9]+(?:_[a-z0-9]+)*)*$/
/** Names that say nothing: a line knows its room, and a thing without a name has none. */
const EMPTY_NAME = /(?:^|_)(?:utils?|helpers?|common|managers?|services?)$|^(?:data|info)$/

/** Folders of tools (.github) are named by their tools. */
const isOurs = (path: string): boolean => !path.startsWith('.')

export function nameComplaints(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter(({ path }) => isOurs(path) && (isCode(path) || path.endsWith('.sql')))
    .flatMap(({ path }) => {
      const parts = path.split('/')
      const crooked = parts.find((part) => !SNAKE_CASE.test(part))
      if (crooked !== undefined) {
        const cure = 'Rename it in lower case with underscores'
        return [{ path, line: 1, what: `${crooked} is not snake_case`, cure }]
      }
      const empty = parts.find((part) => EMPTY_NAME.test(part.split('.')[0] ?? ''))
      if (empty === undefined) return []
      const cure = 'Name it after the idea it holds, or move its lines to the rooms that use them'
      return [{ path, line: 1, what: `${empty} is a name that says nothing`, cure }]
    })
}

const DECLARATION = /^export const (\w+) = operation\(/gm

/** Read off the text and not imported, so that the check needs nothing but files. */
export function operationNames(files: readonly SourceFile[]): Set<string> {
  const names = files
    .filter(({ path }) => path.startsWith('src/contract/') && !isTest(path))
    .flatMap(({ text }) => [...text.matchAll(DECLARATION)].map((match) => match[1] ?? ''))
  return new Set(names)
}

export function handlerComplaints(files: readonly SourceFile[]): Complaint[] {
  const operations = operationNames(files)
  const paths = new Set(files.map(({ path }) => path))
  return files.flatMap(({ path }) => {
    if (!/^src\/domain\/[^/]+\/\w+\.ts$/.test(path)) return []
    const name = nameOf(path).replace(/\.ts$/, '')
    const test_path = path.replace(/\.ts$/, '.test.ts')
    if (!operations.has(name) || paths.has(test_path)) return []
    const cure = `Write ${test_path} with the guarantees of ${name}`
    return [{ path, line: 1, what: 'is an operation without a test', cure }]
  })
}
