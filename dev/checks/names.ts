/**
 * Checks names. Words that only this project would use are in no identifier, an exported type has one name in one file of a package and is
 * a noun, entries export without `as`, and the subjects of the newest commits are imperative.
 */
import { execFileSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { EXACT_TERMS, NOUNS, PARTICIPLES, WORDS } from "./names/words.ts"
import { isTestFile, sourceParts } from "./source-parts.ts"

const MAX_SHARED_TYPES = 10 // types of one package exported under one name from several files
const MAX_ALIASES = 5 // `X as Y` in the entries of all packages
const CHECKED_COMMITS = 30
const MAX_SUBJECT_LENGTH = 72

/** The parts of an identifier in lower case: `firstPageOf` gives first, page, of. */
export const partsOf = (identifier: string): readonly string[] =>
  (identifier.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((part) => part.toLowerCase())

/** One line for each identifier of a file that contains a word of `WORDS`. */
export function dialectNames(file: string, source: string): readonly string[] {
  const code = sourceParts(source).filter(({ kind }) => kind === "code")
  const names = new Set(code.flatMap(({ text }) => text.match(/[A-Za-z_$][\w$]*/g) ?? []))
  const allowed = EXACT_TERMS.filter((term) => file.startsWith(term.in)).flatMap((term) => term.names)
  return [...names].flatMap((name) =>
    allowed.includes(name)
      ? []
      : partsOf(name)
          .filter((part) => Object.hasOwn(WORDS, part))
          .map((part) => `${file}: ${name} (say: ${WORDS[part]})`),
  )
}

export const exportedTypes = (source: string): readonly string[] =>
  [...source.matchAll(/^export (?:interface|type|class|abstract class|declare class) ([A-Z]\w*)/gm)].map(
    ([, name]) => name!,
  )

/** Whether a name is one word that says an action or its result, for example `Given` or `Reading`. */
export const isBareVerb = (name: string): boolean =>
  partsOf(name).length === 1 &&
  !NOUNS.includes(name) &&
  (PARTICIPLES.includes(name) || /[^aeiou]ed$|[aeiou]{2}d$|.{3}ing$/.test(name))

/** Reason why a subject is not `area: imperative`, if it is not. */
export function subjectProblem(subject: string): string | undefined {
  if (/^Merge /.test(subject)) return undefined
  const first = /^[\w./ ,-]+: (\S+)/.exec(subject)?.[1]
  if (first === undefined) return "has no area"
  if (subject.length > MAX_SUBJECT_LENGTH) return `has ${subject.length} characters`
  return /^(?:an?|the|what|how|which)$/i.test(first) ? "does not say what to do" : undefined
}

const packageOf = (file: string): string => file.split("/").slice(0, 2).join("/")

function sharedTypes(files: readonly string[], read: (file: string) => string): readonly string[] {
  const declared = files.flatMap((file) =>
    exportedTypes(read(file)).map((name) => ({ key: `${packageOf(file)} ${name}`, file })),
  )
  const shared = [...Map.groupBy(declared, ({ key }) => key)].filter(([, all]) => all.length > 1)
  const byPackage = Map.groupBy(shared, ([key]) => key.split(" ")[0]!)
  return [...byPackage].flatMap(([name, all]) =>
    all.length <= MAX_SHARED_TYPES
      ? []
      : [
          `${name} exports ${all.length} type names from several files: ${all.map(([key]) => key.split(" ")[1]).join(", ")}`,
        ],
  )
}

function aliases(read: (file: string) => string): readonly string[] {
  const found = globSync(["packages/*/src/index.ts", "packages/core/src/entries/*.ts"]).flatMap((file) =>
    [...read(file).matchAll(/^(?:export|import| {2}).*\b(\w+ as \w+)\b/gm)].map(([, alias]) => `${file}: ${alias}`),
  )
  return found.length <= MAX_ALIASES
    ? []
    : [`entries export ${found.length} names under another name: ${found.join("; ")}`]
}

function subjects(): readonly string[] {
  try {
    const log = execFileSync("git", ["log", "--no-merges", `-${CHECKED_COMMITS}`, "--format=%s"], { encoding: "utf8" })
    return log.trim().split("\n")
  } catch {
    return [] // a copy of the sources without a repository
  }
}

if (import.meta.main) {
  const read = (file: string) => readFileSync(file, "utf8")
  const files = globSync(["packages/*/{src,test}/**/*.{ts,tsx}", "dev/**/*.ts"]).filter(
    (file) => !file.startsWith("dev/checks/names"),
  )
  const sources = files.filter((file) => !isTestFile(file))
  const problems = [
    ...files.flatMap((file) => dialectNames(file, read(file))),
    ...sharedTypes(sources, read),
    ...sources.flatMap((file) =>
      exportedTypes(read(file))
        .filter(isBareVerb)
        .map((name) => `${file}: the type ${name} is not a noun with its subject`),
    ),
    ...aliases(read),
    ...subjects().flatMap((subject) => {
      const problem = subjectProblem(subject)
      return problem === undefined ? [] : [`commit "${subject}" ${problem}`]
    }),
  ]
  for (const problem of problems) console.error(problem)
  console.log(`names: ${problems.length} problems`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
