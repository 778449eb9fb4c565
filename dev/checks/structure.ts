/**
 * Checks the structure of the repository.
 * - A folder of `core/src` imports only from folders below it, a package only from packages below it. This includes type imports.
 * - No package needs its development tools: nothing in `packages`, tests included, and no example imports from `dev`.
 * - A published package imports the exports of another one by its name: no path leads into another package's sources, and no subpath is a
 *   pattern that opens them. So each module exists once at run time.
 * - No file imports itself in a circle.
 * - No file shared by tests sets hooks: it is loaded once, so its hooks would apply to the first test file only.
 * - Every requirement id that a file names is explained in docs/development/requirements.md. Comments in sources name none.
 * - Every requirement id that a test names is also named by a test of `npm test`.
 * - Every type of Strata that declarations of the root of `@strata/core` name is exported by the root or another entry. Members marked
 *   `@internal` are not in them. The root has at most 150 names.
 */
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize, relative, sep } from "node:path"
import { isTestFile } from "./source-parts.ts"
import { entriesOf, exportedNames } from "./structure/exported-names.ts"
import { unnamedTypes } from "./structure/public-types.ts"
import { withDeclarations } from "./structure/published-declarations.ts"
import { idsInComments, listedIds, unlistedIds } from "./structure/requirement-ids.ts"
import { wholeOnlyProblems } from "./structure/whole-only-ids.ts"

/** Folders from the bottom up. Files directly in `src` are above all of them. */
export const FLOORS = [
  ...["base", "settings", "messages", "tokens", "journal", "views", "model", "tools", "recall"],
  ...["memory", "forks", "layers", "conversation", "agent", "team"],
]
const PACKAGES = [
  ...["core", "store-contract", "postgres", "transcripts", "adapters", "sessions", "sync"],
  ...["plugins", "page", "sim", "cli", "dev"],
]
const CORE = join("packages", "core", "src")

interface Import {
  readonly from: string
  readonly to: string
}

export function importsOf(files: readonly string[], read: (file: string) => string): readonly Import[] {
  const known = new Set(files)
  return files.flatMap((from) =>
    [...read(from).matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)"(\.{1,2}\/[^"]+)"/g)]
      .map(([, path]) => normalize(join(dirname(from), path!)))
      .filter((to) => known.has(to))
      .map((to) => ({ from, to })),
  )
}

export function upwardImports(imports: readonly Import[]): readonly Import[] {
  const floorOf = (file: string) => FLOORS.indexOf(file.slice(CORE.length + 1).split(sep)[0]!)
  const inside = imports.filter(
    ({ from, to }) => from.startsWith(CORE + sep) && to.startsWith(CORE + sep) && floorOf(from) >= 0,
  )
  const levelOf = (file: string) => PACKAGES.indexOf(packageOf(file))
  return [
    ...inside.filter(({ from, to }) => floorOf(to) < 0 || floorOf(to) > floorOf(from)),
    ...imports.filter(({ from, to }) => levelOf(to) > levelOf(from)),
  ]
}

/** The folder in `packages` that contains the file, or a folder next to `packages` such as `dev`. */
function packageOf(file: string): string {
  const [top, folder] = file.split(sep)
  return top === "packages" ? folder! : top!
}

/** Imports from `dev`, which is not published. */
export const devImports = (imports: readonly Import[]): readonly Import[] =>
  imports.filter(({ from, to }) => packageOf(to) === "dev" && packageOf(from) !== "dev")

/** Imports by path from one package into another. `dev` is never published, so it may read sources. */
export const deepImports = (imports: readonly Import[]): readonly Import[] =>
  imports.filter(({ from, to }) => packageOf(from) !== packageOf(to) && packageOf(from) !== "dev")

interface PackageExports {
  readonly name: string
  readonly exports?: unknown
}

/** One sentence for each subpath that is a pattern. */
export const openSubpaths = ({ name, exports = {} }: PackageExports): readonly string[] =>
  Object.keys(exports as object)
    .filter((subpath) => subpath.includes("*"))
    .map((subpath) => `${name} opens its sources with ${subpath}: name what others need in an entry`)

export function findCycles(imports: readonly Import[]): readonly (readonly string[])[] {
  const targets = Map.groupBy(imports, ({ from }) => from)
  const cycles: string[][] = []
  const done = new Set<string>()
  const visit = (file: string, way: readonly string[]): void => {
    const at = way.indexOf(file)
    if (at >= 0) cycles.push([...way.slice(at), file])
    if (at >= 0 || done.has(file)) return
    for (const { to } of targets.get(file) ?? []) visit(to, [...way, file])
    done.add(file)
  }
  for (const file of targets.keys()) visit(file, [])
  return cycles
}

export const setsHooks = (source: string): boolean => /^(?:before|after)(?:Each|All)\(/m.test(source)

const read = (file: string) => readFileSync(file, "utf8")

const ROOT_ENTRY = join(CORE, "index.ts")
const OTHER_ENTRIES = globSync(join(CORE, "entries", "*.ts"))
/** The root exports what a custom loop and Strata's agent need. Everything else has a more specific entry. */
const MAX_ROOT_NAMES = 150

/** Types in the declarations of the root that users cannot import, one sentence each. */
const unnamedRootTypes = (): readonly string[] =>
  withDeclarations([ROOT_ENTRY, ...OTHER_ENTRIES], (directory) => {
    const written = (entry: string) => join(directory, entry.replace(/\.ts$/, ".d.ts"))
    return unnamedTypes(written(ROOT_ENTRY), read, OTHER_ENTRIES.map(written)).map(
      ({ name, file, usedBy }) =>
        `@strata/core does not export ${name} (${relative(directory, file)}), which ${usedBy} names`,
    )
  })

const tooManyRootNames = (): readonly string[] => {
  const { values, types } = exportedNames(ROOT_ENTRY, read)
  const names = values.length + types.length
  return names > MAX_ROOT_NAMES ? [`@strata/core exports ${names} names, not at most ${MAX_ROOT_NAMES}`] : []
}

/** One line per entry of each package: how many values and types it exports. */
function exportCounts(): readonly { entry: string; values: number; types: number }[] {
  return globSync("packages/*/package.json")
    .toSorted()
    .flatMap((manifest) => {
      const parsed = JSON.parse(read(manifest)) as { name: string; exports?: unknown }
      return entriesOf(parsed).map(({ name, file }) => {
        const names = exportedNames(join(dirname(manifest), file), read)
        return {
          entry: join(parsed.name, name),
          values: names.values.length,
          types: names.types.length,
        }
      })
    })
}

if (import.meta.main) {
  const code = globSync("{packages,dev,examples}/**/*.{ts,tsx}").filter((file) => !file.includes("node_modules"))
  const files = code.filter((file) => /^(?:packages\/[^/]+\/src|dev)\//.test(file) && !isTestFile(file))
  const imports = importsOf(files, read)
  const shared = globSync("packages/*/test/**/*.ts").filter((file) => !isTestFile(file))
  const listed = listedIds(read("docs/development/requirements.md"))
  const naming = globSync("{packages,docs,dev,examples}/**/*.{ts,tsx,md}").filter(
    (file) => !file.includes("node_modules") && !file.endsWith("requirement-ids.test.ts"),
  )
  const counts = exportCounts()
  const problems = [
    ...upwardImports(imports).map(({ from, to }) => `${from} imports upwards: ${to}`),
    ...deepImports(imports).map(({ from, to }) => `${from} imports by path what another package should export: ${to}`),
    ...globSync("packages/*/package.json").flatMap((file) => openSubpaths(JSON.parse(read(file)) as PackageExports)),
    ...devImports(importsOf(code, read)).map(({ from, to }) => `${from} imports what only works on Strata: ${to}`),
    ...findCycles(imports).map((cycle) => `import cycle: ${cycle.join(" -> ")}`),
    ...shared
      .filter((file) => setsHooks(read(file)))
      .map((file) => `${file} sets hooks, which apply to the first test file only: use onTestFinished`),
    ...unnamedRootTypes(),
    ...tooManyRootNames(),
    ...wholeOnlyProblems(naming, { read, listed }),
    ...naming.flatMap((file) =>
      unlistedIds(read(file), listed).map(
        (id) => `${file} names ${id}, which docs/development/requirements.md does not list`,
      ),
    ),
    ...files.flatMap((file) =>
      idsInComments(read(file), listed).map((id) => `${file} names ${id} in a comment, which readers cannot look up`),
    ),
  ]
  for (const problem of problems) console.error(problem)
  for (const { entry, values, types } of counts)
    console.log(`${entry}: ${values + types} names (${values} values, ${types} types)`)
  console.log(`structure: ${files.length} files, ${imports.length} imports, ${problems.length} problems`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
