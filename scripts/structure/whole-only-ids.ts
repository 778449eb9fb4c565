/**
 * Requirement ids and the quick tests: `npm test` leaves out the files `*.whole.test.ts`. Every id that one of them names is also named by a
 * test file of the quick set, unless the list below says why it cannot be.
 */
import { isTestFile, sourceParts } from "../source-parts.ts"

/** Ids that only `npm run test:all` proves, each with the reason. */
export const WHOLE_ONLY: Readonly<Record<string, string>> = {}

const isWholeTest = (file: string) => /\.whole\.test\.tsx?$/.test(file)

export interface WholeOnlyOptions {
  readonly read: (file: string) => string
  /** The ids of docs/development/requirements.md. */
  readonly listed: ReadonlySet<string>
  readonly allowed?: Readonly<Record<string, string>>
}

/** One sentence for each id that lost its last quick test, and for each that is on the list without need. */
export function wholeOnlyProblems(
  files: readonly string[],
  { read, listed, allowed = WHOLE_ONLY }: WholeOnlyOptions,
): readonly string[] {
  const tests = files.filter(isTestFile)
  const named = (chosen: readonly string[]) => new Set(chosen.flatMap((file) => idsInStrings(read(file), listed)))
  const quick = named(tests.filter((file) => !isWholeTest(file)))
  const wholeOnly = [...named(tests.filter(isWholeTest))].filter((id) => !quick.has(id)).toSorted()
  return [
    ...wholeOnly
      .filter((id) => !(id in allowed))
      .map((id) => `only *.whole.test.ts files name ${id}: npm test no longer proves it`),
    ...Object.keys(allowed)
      .filter((id) => !wholeOnly.includes(id))
      .map((id) => `scripts/structure/whole-only-ids.ts lists ${id}, which it need not`),
  ]
}

/** Titles are strings. Comments prove nothing. */
const idsInStrings = (source: string, listed: ReadonlySet<string>): readonly string[] =>
  sourceParts(source)
    .filter(({ kind }) => kind === "string")
    .flatMap(({ text }) => text.match(/\b[A-Z][A-Z0-9]{1,4}-\d{1,2}\b/g) ?? [])
    .filter((id) => listed.has(id))
