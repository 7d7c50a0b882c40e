import { isCode, isTest, nameOf, type SourceFile, type Violation } from './source.ts'

const SNAKE_CASE = /^[a-z0-9]+(?:_[a-z0-9]+)*(?:\.[a-z0-9]+(?:_[a-z0-9]+)*)*$/
/** Names that do not describe their content. */
const EMPTY_NAME = /(?:^|_)(?:utils?|helpers?|common|managers?|services?)$|^(?:data|info|index)$/

/** Folders of tools (.github) have the names that the tools require. */
const isOurs = (path: string): boolean => !path.startsWith('.')

export function fileNameViolations(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => isOurs(path) && (isCode(path) || path.endsWith('.sql')))
    .flatMap(({ path }) => {
      const parts = path.split('/')
      const invalid = parts.find((part) => !SNAKE_CASE.test(part))
      if (invalid !== undefined) {
        const fix = 'Rename it in lower case with underscores'
        return [{ path, line: 1, problem: `${invalid} is not snake_case`, fix }]
      }
      const empty = parts.find((part) => EMPTY_NAME.test(part.split('.')[0] ?? ''))
      if (empty === undefined) return []
      const fix = 'Name it after its content, or move the code to the rooms that use it'
      return [{ path, line: 1, problem: `${empty} is not a descriptive name`, fix }]
    })
}

const DECLARATION = /^export const (\w+) = (?:operation\(|operatorOperation\(|\{\n {2}name: ')/gm

/** Parsed from the text instead of imported, so that the check only needs files. */
export function operationNames(files: readonly SourceFile[]): Set<string> {
  const names = files
    .filter(({ path }) => path.startsWith('src/contract/') && !isTest(path))
    .flatMap(({ text }) => [...text.matchAll(DECLARATION)].map((match) => match[1] ?? ''))
  return new Set(names)
}

export function handlerViolations(files: readonly SourceFile[]): Violation[] {
  const operations = operationNames(files)
  const paths = new Set(files.map(({ path }) => path))
  return files.flatMap(({ path }) => {
    if (!/^src\/domain\/[^/]+\/\w+\.ts$/.test(path)) return []
    const name = nameOf(path).replace(/\.ts$/, '')
    const test_path = path.replace(/\.ts$/, '.test.ts')
    if (!operations.has(name) || paths.has(test_path)) return []
    const fix = `Write ${test_path} with the guarantees of ${name}`
    return [{ path, line: 1, problem: 'is an operation without a test', fix }]
  })
}
