import { formatViolation } from './tidy/source.ts'
import { readTree } from './tidy/tree.ts'
import { bannedWordViolations, headlessViolations, isInVocabulary } from './tidy/vocabulary.ts'

/** Prints banned words, of all checked files or of paths that begin with one of the arguments. */
const prefixes = process.argv.slice(2)
const files = readTree().filter(
  ({ path }) => prefixes.length === 0 || prefixes.some((prefix) => path.startsWith(prefix)),
)
for (const violation of [
  ...bannedWordViolations(files, isInVocabulary),
  ...headlessViolations(files, isInVocabulary),
]) {
  console.log(formatViolation(violation))
}
