import { changelogViolations } from '#scripts/release/changelog.ts'
import { tableOwnerViolations } from '#scripts/table_owners.ts'
import { fileReferenceViolations, glossaryViolations, synonymViolations } from './glossary.ts'
import { importOrderViolations } from './import_order.ts'
import { lineLengthViolations } from './line_length.ts'
import { migrationViolations } from './migrations.ts'
import { fileNameViolations, handlerViolations } from './names.ts'
import { panelTestViolations } from './panel_tests.ts'
import { machineViolations } from './places.ts'
import type { SourceFile, Violation } from './source.ts'
import { bannedWordViolations, headlessViolations } from './vocabulary.ts'
import {
  apostropheViolations,
  clockViolations,
  markerViolations,
  skippedTestViolations,
} from './words.ts'

/** The house rules that can be checked. */
const rules = [
  tableOwnerViolations,
  lineLengthViolations,
  markerViolations,
  clockViolations,
  skippedTestViolations,
  apostropheViolations,
  fileNameViolations,
  handlerViolations,
  panelTestViolations,
  migrationViolations,
  machineViolations,
  glossaryViolations,
  synonymViolations,
  fileReferenceViolations,
  importOrderViolations,
  changelogViolations,
  (files: readonly SourceFile[]) => bannedWordViolations(files),
  (files: readonly SourceFile[]) => headlessViolations(files),
]

export function checkRules(files: readonly SourceFile[]): Violation[] {
  return rules
    .flatMap((rule) => rule(files))
    .sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))
}
