import { type Import, importsOf } from './imports.ts'
import { isCode, type SourceFile, type Violation } from './source.ts'

type Graph = ReadonlyMap<string, readonly Import[]>

/**
 * Depth-first search: an import of a file that is still open completes a cycle. Type imports count
 * too.
 */
function cyclesFrom(start: string, graph: Graph, seen: Set<string>): Violation[] {
  const open: string[] = []
  const violations: Violation[] = []
  const visit = (path: string): void => {
    seen.add(path)
    open.push(path)
    for (const { target, line } of graph.get(path) ?? []) {
      const opened = open.indexOf(target)
      if (opened !== -1) {
        const cycle = [...open.slice(opened), target].join(' → ')
        const fix = 'Move the shared code into a file below them'
        violations.push({ path, line, problem: `closes the cycle ${cycle}`, fix })
      } else if (!seen.has(target)) visit(target)
    }
    open.pop()
  }
  visit(start)
  return violations
}

export function cycleViolations(files: readonly SourceFile[]): Violation[] {
  const code = files.filter(({ path }) => isCode(path))
  const graph = new Map(code.map((file) => [file.path, importsOf(file)]))
  const seen = new Set<string>()
  return [...graph.keys()].flatMap((path) => (seen.has(path) ? [] : cyclesFrom(path, graph, seen)))
}
