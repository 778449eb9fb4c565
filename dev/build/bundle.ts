/**
 * Bundles a library into one file per entry, and one for each part that loads later. Node takes longer to find and link hundreds of small
 * files than to run them. Prompts are included. Other packages, including Strata's own, are imported as usual.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild"
import { packageNameOf } from "./imports.ts"
import { withInlinedPrompts } from "./inline-prompts.ts"
import { withInlinedScripts } from "./inline-scripts.ts"
import { licencesOf } from "./licences.ts"
import { entriesOf, ROOT, type SourcePackage } from "./packages.ts"

const OWN_SOURCE =
  /[\\/]packages[\\/](?:adapters|cli|core|page|plugins|postgres|sessions|sim|store-contract|sync|transcripts)[\\/]src[\\/].*\.tsx?$/
/** Width of generated lines. Names are preserved and lines are short, so that a stack trace is readable. */
const LINE_CHARACTERS = 160
/**
 * Libraries inside a bundle, because Node takes four times as long for their many files. `unbash` loads with every conversation, `zod` with
 * every settings file and agent, the others draw.
 */
export const INSIDE: ReadonlySet<string> = new Set(["ink", "react", "unbash", "zod"])
const SOURCE_NAME = /^\.\/src\/(.+)\.tsx?$/

export async function bundleLibrary({ folder, manifest }: SourcePackage, output: string): Promise<void> {
  const source = join(ROOT, "packages", folder)
  const entries = entriesOf(manifest).map((file) => join(source, file))
  const options = {
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(entriesOf(manifest).map((file, at) => [SOURCE_NAME.exec(file)![1]!, entries[at]!])),
    outdir: output,
    chunkNames: "[name]-[hash]", // next to the entries, because commands read `../package.json`
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    jsx: "automatic",
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: LINE_CHARACTERS,
    legalComments: "none", // the licences are in a separate file
    logLevel: "error",
  } satisfies BuildOptions
  const plain = await build({
    ...options,
    write: false,
    metafile: true,
    plugins: [ownSources, librariesStayOutside],
  })
  const loadsAfter = orderOfLoading(plain.metafile, source)
  const plugins = [loadedLater(loadsAfter), sourcesAfter(loadsAfter, entries), librariesStayOutside]
  const { metafile } = await build({ ...options, metafile: true, plugins })
  const licences = licencesOf(Object.keys(metafile.inputs))
  if (licences !== "") writeFileSync(join(output, "LICENSES"), licences)
}

/** Returns the paths that a file imports first, so that they are loaded before it. */
type LoadsAfter = (path: string) => readonly string[]

/**
 * The bundler would make a file for every set of entries and later parts that share code, and the first conversation would load seventy of
 * them. So core has levels, each with all code that these files reach. A caller that needs much of a level loads it completely, as one
 * file, with the levels below.
 */
const LEVELS: readonly (readonly string[])[] = [
  ["index", "entries/base", "entries/store"],
  ["messages", "model", "projects", "settings", "tokens"].map((entry) => `entries/${entry}`),
  ["entries/conversation"],
  ["memory", "recall", "views"].map((entry) => `entries/${entry}`),
  ["conversation/open"],
  ["settings/settings-schema"], // with zod
  ["agent/open-agent", "entries/agent"],
]

/** Share of a level's code. A caller that needs less loads only that, from separate files. */
const MUCH = 0.1

function orderOfLoading({ inputs }: Metafile, source: string): LoadsAfter {
  const levels = LEVELS.map((files) => files.map((file) => join(source, "src", `${file}.ts`))).filter((files) =>
    files.every((file) => nameOf(file) in inputs),
  )
  const reached = (from: readonly string[]): ReadonlySet<string> => {
    const found = new Set(from)
    for (const file of found)
      for (const { path, kind } of inputs[file]?.imports ?? []) if (kind === "import-statement") found.add(path)
    return found
  }
  const contents = levels.map((files) => reached(files.map(nameOf)))
  const levelOf = (file: string) => contents.findIndex((level) => level.has(file))
  const bytesByLevel = (files: Iterable<string>): readonly number[] => {
    const sums = levels.map(() => 0)
    for (const file of files) if (levelOf(file) >= 0) sums[levelOf(file)]! += inputs[file]?.bytes ?? 0
    return sums
  }
  const added = bytesByLevel(Object.keys(inputs))
  const askers = Map.groupBy(
    Object.entries(inputs).flatMap(([from, { imports }]) =>
      imports.filter(({ kind }) => kind === "dynamic-import").map(({ path }) => ({ level: levelOf(from), path })),
    ),
    ({ path }) => path,
  )
  return (path) => {
    const needed = bytesByLevel(reached([nameOf(path)])).findLastIndex((bytes, level) => bytes > added[level]! * MUCH)
    const asking = askers.get(nameOf(path))?.map(({ level }) => level) ?? []
    const last = Math.max(needed, asking.length === 0 ? -1 : Math.min(...asking))
    return levels
      .slice(0, last + 1)
      .flat()
      .filter((file) => file !== path)
  }
}

const nameOf = (path: string): string => relative(ROOT, path)

/** Makes a part that loads later a separate module, which imports the code loaded before and then the part. */
function loadedLater(loadsAfter: LoadsAfter): Plugin {
  return {
    name: "parts that load later",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) =>
        kind === "dynamic-import" ? { path: join(resolveDir, path), namespace: "later" } : undefined,
      )
      onLoad({ filter: /^/, namespace: "later" }, ({ path }) => ({
        contents: [...loadsAfter(path).map(importing), `export * from ${JSON.stringify(path)}`].join("\n"),
        resolveDir: dirname(path),
      }))
    },
  }
}

const importing = (file: string): string => `import ${JSON.stringify(file)}`

/** Includes prompts in the code. An entry first imports the paths that `loadsAfter` returns. */
function sourcesAfter(loadsAfter: LoadsAfter, entries: readonly string[] = []): Plugin {
  return {
    name: "own sources",
    setup({ onLoad }) {
      onLoad({ filter: OWN_SOURCE }, ({ path }) => {
        const code = withInlinedScripts(path, readFileSync(path, "utf8"))
        const inlined = withInlinedPrompts({ path, code }, (prompt) =>
          readFileSync(join(dirname(path), prompt), "utf8"),
        )
        const before = entries.includes(path) ? loadsAfter(path).map(importing) : []
        return { contents: [inlined, ...before].join("\n"), loader: path.endsWith("x") ? "tsx" : "ts" }
      })
    },
  }
}

export const ownSources: Plugin = sourcesAfter(() => [])

/** Keeps Strata's other packages outside the bundle, so that a process has one copy of each. */
export const oursStayOutside: Plugin = {
  name: "our packages stay outside",
  setup({ onResolve }) {
    onResolve({ filter: /^@strata\// }, ({ path }) => ({ path, external: true }))
  },
}

const librariesStayOutside: Plugin = {
  name: "libraries stay outside",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || INSIDE.has(packageNameOf(path)) ? undefined : { path, external: true },
    )
  },
}
