/**
 * Checks that quick tests name the requirement ids. `npm test` leaves out the files `*.whole.test.ts`, and tests that are marked
 * `test.runIf(isWhole)`. Every id that one of them names is also named by a quick test, unless the list below has a reason.
 */
import { isTestFile, sourceParts } from "../source-parts.ts"

/** Ids that only `npm run test:all` proves, each with the reason. */
export const WHOLE_ONLY: Readonly<Record<string, string>> = {}

const isWholeFile = (file: string) => /\.whole\.test\.tsx?$/.test(file)

export interface WholeOnlyOptions {
  readonly read: (file: string) => string
  /** The ids of docs/development/requirements.md. */
  readonly listed: ReadonlySet<string>
  readonly allowed?: Readonly<Record<string, string>>
}

/** One sentence for each id without a quick test, and for each id that is on the list needlessly. */
export function wholeOnlyProblems(
  files: readonly string[],
  { read, listed, allowed = WHOLE_ONLY }: WholeOnlyOptions,
): readonly string[] {
  const named = files.filter(isTestFile).flatMap((file) =>
    stringsIn(read(file)).flatMap(({ text, isWhole }) => {
      const ids = text.match(/\b[A-Z][A-Z0-9]{1,4}-\d{1,2}\b/g) ?? []
      return ids.filter((id) => listed.has(id)).map((id) => ({ id, isQuick: !isWhole && !isWholeFile(file) }))
    }),
  )
  const quick = new Set(named.filter(({ isQuick }) => isQuick).map(({ id }) => id))
  const wholeOnly = [...new Set(named.map(({ id }) => id))].filter((id) => !quick.has(id)).toSorted()
  return [
    ...wholeOnly
      .filter((id) => !(id in allowed))
      .map((id) => `only tests of npm run test:all name ${id}: npm test no longer proves it`),
    ...Object.keys(allowed)
      .filter((id) => !wholeOnly.includes(id))
      .map((id) => `dev/checks/structure/whole-only-ids.ts lists ${id}, which it need not`),
  ]
}

/** Lists strings, because titles are strings and comments prove nothing. The title of a marked test comes right after the mark. */
function stringsIn(source: string): readonly { readonly text: string; readonly isWhole: boolean }[] {
  const parts = sourceParts(source)
  return parts.flatMap(({ kind, text }, at) => {
    const before = parts[at - 1]
    const isWhole = before?.kind === "code" && /\.runIf\([^()]*\bisWhole\b[^()]*\)\(\s*`?$/.test(before.text)
    return kind === "string" ? [{ text, isWhole }] : []
  })
}
