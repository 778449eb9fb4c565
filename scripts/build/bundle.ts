/**
 * Bundles a package into one file per entry, and one for each part that loads later. Node takes longer to find and link hundreds of small
 * files than to run them. Our other packages and the prompts are inside; libraries of others are imported as usual.
 */
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { build, type Plugin } from "esbuild"
import { withInlinedPrompts } from "./inline-prompts.ts"
import { entriesOf, ROOT, type SourcePackage } from "./packages.ts"

const OWN_SOURCE = /[\\/]packages[\\/](?:core|plugins|replay|sim|cli)[\\/]src[\\/].*\.tsx?$/
/** Names stay and lines stay short, so that a stack trace says where it was. */
const LINE_CHARACTERS = 160
const SOURCE_NAME = /^\.\/src\/(.+)\.tsx?$/

interface BundleOptions {
  readonly output: string
  /** All packages. Those with folders beside their code stay outside: a bundle would not find them. */
  readonly packages: readonly SourcePackage[]
}

export async function bundlePackage(
  { folder, manifest }: SourcePackage,
  { output, packages }: BundleOptions,
): Promise<void> {
  const outside = packages.flatMap(({ manifest: { name, files = [] } }) => (files.length > 0 ? [name] : []))
  const entries = entriesOf(manifest).filter((file) => !isInternalEntry(manifest, file))
  await build({
    entryPoints: Object.fromEntries(
      entries.map((file) => [SOURCE_NAME.exec(file)![1]!, join(ROOT, "packages", folder, file)]),
    ),
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
    logLevel: "error",
    external: outside.filter((name) => name !== manifest.name),
    plugins: [ownSources, librariesStayOutside],
  })
}

const isInternalEntry = ({ exports = {} }: SourcePackage["manifest"], file: string) => exports["./internal"] === file

/** Prompts become part of the code. */
export const ownSources: Plugin = {
  name: "own sources",
  setup({ onLoad }) {
    onLoad({ filter: OWN_SOURCE }, ({ path }) => {
      const code = readFileSync(path, "utf8")
      const contents = withInlinedPrompts({ path, code }, (prompt) => readFileSync(join(dirname(path), prompt), "utf8"))
      return { contents, loader: path.endsWith("x") ? "tsx" : "ts" }
    })
  },
}

export const librariesStayOutside: Plugin = {
  name: "libraries stay outside",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || path.startsWith("@strata/") ? undefined : { path, external: true },
    )
  },
}
