import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '#platform/runtime/root.ts'
import { ts } from '#test/packages/typescript.ts'

export type Declaration = { file: ts.SourceFile; node: ts.Node }
type Module = { file: ts.SourceFile; names: Map<string, Declaration> }

const modules = new Map<string, Module>()

/** The names that a module declares or imports from the tests' helpers, with their declarations. */
export function readModule(path: string): Module {
  const known = modules.get(path)
  if (known !== undefined) return known
  const text = readFileSync(join(root, path), 'utf8')
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const module: Module = { file, names: new Map() }
  modules.set(path, module)
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) addImports(module, path, node)
    const isNamed = ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node)
    if (isNamed && node.name !== undefined && ts.isIdentifier(node.name)) {
      module.names.set(node.name.text, { file, node })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return module
}

function addImports(module: Module, from: string, node: ts.ImportDeclaration): void {
  const specifier = (node.moduleSpecifier as ts.StringLiteral).text
  const path = specifier.startsWith('#test/') ? specifier.slice(1) : join(dirname(from), specifier)
  const bindings = node.importClause?.namedBindings
  if (!/^test\/|\.test\.ts$/.test(path) || !existsSync(join(root, path))) return
  if (bindings === undefined || !ts.isNamedImports(bindings)) return
  for (const { name, propertyName } of bindings.elements) {
    const declared = readModule(path).names.get((propertyName ?? name).text)
    if (declared !== undefined) module.names.set(name.text, declared)
  }
}

export type FoundTest = Declaration & {
  where: string
  /** The name as it is written, with … for each part that varies. */
  name: string
  is_skipped: boolean
}

function nameIn(node: ts.Node): string {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (!ts.isTemplateExpression(node)) return '…'
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…')
}

/** The tests of a file, whether they are run in a loop or not. */
export function testsIn(path: string): FoundTest[] {
  const { file } = readModule(path)
  const found: FoundTest[] = []
  const visit = (node: ts.Node): void => {
    const called = ts.isCallExpression(node) ? node.expression.getText(file) : ''
    if (ts.isCallExpression(node) && /^(t\.)?test(\.skip|\.todo)?$/.test(called)) {
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1
      const [name, ...rest] = node.arguments
      const body = rest.at(-1)
      const options = rest.length > 1 ? (rest[0]?.getText(file) ?? '') : ''
      const is_skipped = /\.(skip|todo)$/.test(called) || /\b(skip|todo): (true|')/.test(options)
      if (name !== undefined && body !== undefined) {
        found.push({ where: `${path}:${line}`, name: nameIn(name), node: body, file, is_skipped })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}
