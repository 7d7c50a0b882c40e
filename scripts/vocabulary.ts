import { formatViolation } from './tidy/source.ts'
import { readTree } from './tidy/tree.ts'
import { bannedWordViolations, headlessViolations } from './tidy/vocabulary.ts'

/** Prints the banned words in files whose path begins with one of the arguments. */
const prefixes = process.argv.slice(2)
const files = readTree().filter(
  ({ path }) => prefixes.length === 0 || prefixes.some((prefix) => path.startsWith(prefix)),
)
for (const violation of [...bannedWordViolations(files), ...headlessViolations(files)]) {
  console.log(formatViolation(violation))
}
