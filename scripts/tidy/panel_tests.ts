import { isTest, nameOf, type SourceFile, type Violation } from './source.ts'

/** Files without behavior of their own: the entry points, and the list of pages. */
const WITHOUT_TEST = ['panel/main.tsx', 'panel/operator/main.tsx', 'panel/routes.tsx']

const isComponent = (path: string): boolean =>
  /^panel\/.*\.tsx$/.test(path) && !path.includes('/test_support/') && !isTest(path)

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

/** Tests that name the components they are about: `test('logo, navigation: the link …`. */
const TITLE = /\btest\(\s*['"`]([a-z0-9_, ]+): /g

/** A test beside a component imports it. One in its folder or that of its page may name it. */
function isTested(path: string, tests: readonly SourceFile[]): boolean {
  const folder = folderOf(path)
  const name = nameOf(path).replace('.tsx', '')
  return tests.some((test) => {
    const test_folder = folderOf(test.path)
    if (test_folder === folder && test.text.includes(`from './${name}.tsx'`)) return true
    if (test_folder !== folder && test_folder !== folderOf(folder)) return false
    return [...test.text.matchAll(TITLE)].some((title) => title[1]?.split(', ').includes(name))
  })
}

export function panelTestViolations(files: readonly SourceFile[]): Violation[] {
  const tests = files.filter(({ path }) => path.startsWith('panel/') && isTest(path))
  return files
    .filter(({ path }) => isComponent(path) && !WITHOUT_TEST.includes(path))
    .filter(({ path }) => !isTested(path, tests))
    .map(({ path }) => {
      const fix = `Write ${path.replace('.tsx', '.test.ts')} with what people rely on`
      return { path, line: 1, problem: 'is a component without a test', fix }
    })
}
