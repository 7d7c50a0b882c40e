import { floorComplaints } from '#scripts/floors.ts'
import { cycleComplaints } from './cycles.ts'
import { exportComplaints, importComplaints } from './imports.ts'
import { migrationComplaints } from './migrations.ts'
import { handlerComplaints, nameComplaints } from './names.ts'
import { placeComplaints } from './places.ts'
import { columnComplaints, fileSizeComplaints, functionLengthComplaints } from './sizes.ts'
import type { Complaint, SourceFile } from './source.ts'
import { seamComplaints, skipComplaints, wordComplaints } from './words.ts'

/** The taste of the house, as far as it can be checked. */
const rules = [
  floorComplaints,
  importComplaints,
  exportComplaints,
  cycleComplaints,
  fileSizeComplaints,
  functionLengthComplaints,
  columnComplaints,
  wordComplaints,
  seamComplaints,
  skipComplaints,
  nameComplaints,
  handlerComplaints,
  migrationComplaints,
  placeComplaints,
]

export function complaintsAbout(files: readonly SourceFile[]): Complaint[] {
  return rules
    .flatMap((rule) => rule(files))
    .sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))
}
