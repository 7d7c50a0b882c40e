/** A small edit of one source file that breaks one guarantee. */
export type PlantedBug = {
  name: string
  file: string
  /** Occurs exactly once in the file. */
  find: string
  replace: string
  /** The guarantee that the edit breaks. */
  breaks: string
  /** The paths of the test files that notice, each quick enough to end within a minute. */
  tests: readonly string[]
}
