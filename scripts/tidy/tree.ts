import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#platform/root.ts'
import type { SourceFile } from './source.ts'

/**
 * What is committed or would be with `git add .`, as text. A file that is gone from the disk but
 * not yet from git is not read; one with a zero byte is not text.
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
