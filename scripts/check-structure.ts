/**
 * Checks the shape of the house: a folder of `core/src` imports only from those below it, no package imports from one above it, and no
 * file imports itself in a circle. Type imports count: a type is a dependency too. And no file that tests share sets hooks: it is read once
 * for many test files, so that they would hold for the first of them only.
 */
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize, sep } from "node:path"

/** From the ground up. `index.ts` stands above all. */
const FLOORS = [
  ...["base", "messages", "tokens", "journal", "import", "views", "model", "tools", "forks", "layers"],
  ...["replay", "conversation", "agent"],
]
const PACKAGES = ["core", "sim", "cli", "lab"]
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
  const packageOf = (file: string) => PACKAGES.indexOf(file.split(sep)[1]!)
  return [
    ...inside.filter(({ from, to }) => floorOf(to) < 0 || floorOf(to) > floorOf(from)),
    ...imports.filter(({ from, to }) => packageOf(to) > packageOf(from)),
  ]
}

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

if (import.meta.main) {
  const files = globSync("packages/*/src/**/*.{ts,tsx}").filter((file) => !/\.test\.tsx?$/.test(file))
  const imports = importsOf(files, (file) => readFileSync(file, "utf8"))
  const shared = globSync("packages/*/test/**/*.ts").filter((file) => !/\.test\.ts$/.test(file))
  const problems = [
    ...upwardImports(imports).map(({ from, to }) => `${from} imports upwards: ${to}`),
    ...findCycles(imports).map((cycle) => `import cycle: ${cycle.join(" -> ")}`),
    ...shared
      .filter((file) => setsHooks(readFileSync(file, "utf8")))
      .map((file) => `${file} sets hooks, which hold for the first test file only: use onTestFinished`),
  ]
  for (const problem of problems) console.error(problem)
  console.log(`structure: ${files.length} files, ${imports.length} imports, ${problems.length} problems`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
