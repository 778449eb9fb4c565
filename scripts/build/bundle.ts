/**
 * Bundles a library into one file per entry, and one for each part that loads later. Node takes longer to find and link hundreds of small
 * files than to run them. Prompts, and what is internal to our other packages, are inside; most libraries are imported as usual.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type BuildOptions, build, type Plugin } from "esbuild"
import { withInlinedPrompts } from "./inline-prompts.ts"
import { withInlinedScripts } from "./inline-scripts.ts"
import { licencesOf } from "./licences.ts"
import { entriesOf, ROOT, type SourcePackage } from "./packages.ts"

const OWN_SOURCE =
  /[\\/]packages[\\/](?:adapters|core|page|plugins|postgres|proxy|replay|sim|cli)[\\/]src[\\/].*\.tsx?$/
/** Names stay and lines stay short, so that a stack trace says where it was. */
const LINE_CHARACTERS = 160
/** Inside the bundle: every conversation loads it, and Node takes four times as long for its 17 files. */
export const INSIDE: ReadonlySet<string> = new Set(["unbash"])
const SOURCE_NAME = /^\.\/src\/(.+)\.tsx?$/

export async function bundleLibrary({ folder, manifest }: SourcePackage, output: string): Promise<void> {
  const source = join(ROOT, "packages", folder)
  const entries = entriesOf(manifest).map((file) => join(source, file))
  const options: BuildOptions = {
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(entriesOf(manifest).map((file, at) => [SOURCE_NAME.exec(file)![1]!, entries[at]!])),
    outdir: output,
    chunkNames: "[name]-[hash]", // beside the entries: commands read `../package.json`
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    jsx: "automatic",
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: LINE_CHARACTERS,
    legalComments: "none", // the licences are in a file of their own
    logLevel: "error",
  }
  const outside = [ourRootsStayOutside, librariesStayOutside]
  const later = new Set<string>()
  await build({ ...options, write: false, plugins: [partsThatLoadLater(later), ownSources, ...outside] })
  const before = (path: string) => (later.has(path) ? loadedBefore(path, { source, entries }) : [])
  const plugins = [sourcesAfter(before), ...outside]
  const { metafile } = await build({ ...options, plugins, metafile: true })
  const licences = licencesOf(Object.keys(metafile.inputs))
  if (licences !== "") writeFileSync(join(output, "LICENSES"), licences)
}

/**
 * The bundler makes a file for every set of parts that share code: a hundred of them would load with the first conversation. A part says here
 * what was loaded before it, so what those have is not split for its sake. It changes no order: a part loads after these anyway.
 */
function loadedBefore(
  path: string,
  { source, entries }: { source: string; entries: readonly string[] },
): readonly string[] {
  const conversation = join(source, "src", "conversation", "open.ts")
  const needsConversation = existsSync(conversation) && path !== conversation && !LOADS_ALONE.test(path)
  const first = entries.filter((entry) => !LOADS_NOTHING_LATER.test(entry))
  return [...(first.length === 1 ? first : []), ...(needsConversation ? [conversation] : [])]
}

/** Entries without parts that load later: no part loads after them. */
const LOADS_NOTHING_LATER = /\/store-contract\/index\.ts$/

/** Parts that are used without a conversation: they must not load one. */
const LOADS_ALONE =
  /\/(?:carry|import-conversations|list|read-with-trust|settings-schema|read-transcripts|inspection|recorded-course|in-memory\/store|offline\/summary|open-file-journal|definition|claims)\.ts$/

function partsThatLoadLater(found: Set<string>): Plugin {
  return {
    name: "parts that load later",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) => {
        if (kind === "dynamic-import") found.add(join(resolveDir, path))
        return undefined
      })
    },
  }
}

/** Prompts become part of the code. `before`: files to import first, given a path. */
function sourcesAfter(before: (path: string) => readonly string[]): Plugin {
  return {
    name: "own sources",
    setup({ onLoad }) {
      onLoad({ filter: OWN_SOURCE }, ({ path }) => {
        const code = withInlinedScripts(path, readFileSync(path, "utf8"))
        const inlined = withInlinedPrompts({ path, code }, (prompt) =>
          readFileSync(join(dirname(path), prompt), "utf8"),
        )
        const imports = before(path).map((file) => `import ${JSON.stringify(file)}\n`)
        return { contents: imports.join("") + inlined, loader: path.endsWith("x") ? "tsx" : "ts" }
      })
    },
  }
}

export const ownSources: Plugin = sourcesAfter(() => [])

/** What a package exports for all is imported from it, so that there is one copy of it. */
const ourRootsStayOutside: Plugin = {
  name: "our roots stay outside",
  setup({ onResolve }) {
    onResolve({ filter: /^@strata\/[^/]+$/ }, ({ path }) => ({ path, external: true }))
  },
}

export const librariesStayOutside: Plugin = {
  name: "libraries stay outside",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || path.startsWith("@strata/") || INSIDE.has(path) ? undefined : { path, external: true },
    )
  },
}
