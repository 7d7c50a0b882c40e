import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#platform/runtime/root.ts'
import type { SourceFile } from './source.ts'

/**
 * All text files that are committed or would be with `git add .`. Deleted files are skipped; files
 * with a zero byte are not text.
 */
export function readTree(): SourceFile[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const paths = [...new Set(listed.split('\0'))].filter((path) => {
    const there = join(root, path)
    return path !== '' && existsSync(there) && statSync(there).isFile()
  })
  return paths
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'))
}
