import { type Import, importsOf } from './imports.ts'
import { type Complaint, isCode, type SourceFile } from './source.ts'

type Graph = ReadonlyMap<string, readonly Import[]>

/**
 * Walks the imports depth first; meeting a file that is still open closes a circle. Type imports
 * count too: two files that need each other's types are one idea in two places.
 */
function circlesFrom(start: string, graph: Graph, seen: Set<string>): Complaint[] {
  const open: string[] = []
  const complaints: Complaint[] = []
  const visit = (path: string): void => {
    seen.add(path)
    open.push(path)
    for (const { target, line } of graph.get(path) ?? []) {
      const opened = open.indexOf(target)
      if (opened !== -1) {
        const circle = [...open.slice(opened), target].join(' → ')
        const cure = 'Move what both need into a file below them'
        complaints.push({ path, line, what: `closes the circle ${circle}`, cure })
      } else if (!seen.has(target)) visit(target)
    }
    open.pop()
  }
  visit(start)
  return complaints
}

export function cycleComplaints(files: readonly SourceFile[]): Complaint[] {
  const code = files.filter(({ path }) => isCode(path))
  const graph = new Map(code.map((file) => [file.path, importsOf(file)]))
  const seen = new Set<string>()
  return [...graph.keys()].flatMap((path) => (seen.has(path) ? [] : circlesFrom(path, graph, seen)))
}
