import type { SourceFile, Violation } from '#scripts/tidy/source.ts'

const CHANGELOG_PATH = 'CHANGELOG.md'
const RELEASE = /^## (?<version>\d+\.\d+\.\d+) - (?<date>\d{4}-\d\d-\d\d|Unreleased)$/
/** The kinds of change of Keep a Changelog. */
const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']

export type Release = { version: string; isReleased: boolean }

const releaseIn = (line: string): Release | null => {
  const { version, date } = RELEASE.exec(line)?.groups ?? {}
  return version === undefined ? null : { version, isReleased: date !== 'Unreleased' }
}

/** The first release of the changelog, which is the version in package.json. */
export function newestRelease(changelog: string): Release {
  const release = changelog
    .split('\n')
    .map(releaseIn)
    .find((found) => found !== null)
  if (release === undefined || release === null) throw new Error('the changelog has no release')
  return release
}

export function changelogViolations(files: readonly SourceFile[]): Violation[] {
  const text = files.find(({ path }) => path === CHANGELOG_PATH)?.text
  if (text === undefined) return []
  const manifest = files.find(({ path }) => path === 'package.json')?.text ?? '{}'
  const { version } = JSON.parse(manifest) as { version?: string }
  const violation = (index: number, problem: string, fix: string): Violation => ({
    path: CHANGELOG_PATH,
    line: index + 1,
    problem,
    fix,
  })
  let releases = 0
  return text.split('\n').flatMap((line, index) => {
    if (line.startsWith('### ')) {
      if (KINDS.includes(line.slice(4))) return []
      return [violation(index, `has the kind ${line.slice(4)}`, `Use ${KINDS.join(', ')}`)]
    }
    if (!line.startsWith('## ')) return []
    const release = releaseIn(line)
    releases += 1
    if (release === null) {
      return [violation(index, 'has no version and date', 'Write ## 1.2.3 - 2026-11-15')]
    }
    if (releases === 1 && release.version !== version) {
      return [violation(index, `is not version ${version}`, 'Use the version in package.json')]
    }
    if (releases > 1 && !release.isReleased) {
      return [violation(index, 'is unreleased but not the newest', 'Write its date')]
    }
    return []
  })
}
