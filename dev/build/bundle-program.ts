/**
 * Bundles the program: a file for each part that `main.ts` can start, for each command, and for shared code. The terminal libraries are
 * inside, because Node takes longer to find their hundred files than to run them. Other packages of Strata stay outside.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { join } from "node:path"
import { type BuildOptions, build, type Plugin } from "esbuild"
import { oursStayOutside, ownSources } from "./bundle.ts"
import { licencesOf } from "./licences.ts"
import { ROOT } from "./packages.ts"

const PART = /\bimport\("\.\/([\w/-]+)\.ts"\)/g
/** Width of generated lines. Names are preserved and lines are short, so that a stack trace is readable. */
const LINE_CHARACTERS = 160

export interface ProgramBundle {
  /** Source file that Node starts. */
  readonly main: string
  readonly output: string
  /** Further entry files by their output name. */
  readonly more?: Readonly<Record<string, string>>
}

export async function bundleProgram({ main, output, more = {} }: ProgramBundle): Promise<void> {
  const parts = [...readFileSync(main, "utf8").matchAll(PART)].map(([, path]) => path!)
  const shared: BuildOptions = {
    absWorkingDir: ROOT,
    outdir: output, // one flat folder, because commands read `../package.json`
    chunkNames: "[name]-[hash]",
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    jsx: "automatic",
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: LINE_CHARACTERS,
    legalComments: "none", // the licences are in a separate file
    logLevel: "error",
    logOverride: { "import-is-undefined": "error" },
  }
  await build({ ...shared, entryPoints: { main }, plugins: [partsStayOutside] })
  const entryPoints = Object.fromEntries(parts.map((path) => [fileOf(path), join(main, "..", `${path}.ts`)]))
  const { metafile } = await build({
    ...shared,
    entryPoints: { ...entryPoints, ...more },
    splitting: true,
    define: { "process.env.NODE_ENV": '"production"', "process.env.DEV": '"false"' },
    plugins: [oursStayOutside, ownSources, nodeWhenNeeded, withoutDevelopmentTools],
    metafile: true,
  })
  for (const file of Object.keys(metafile.outputs)) shortenPaths(join(ROOT, file))
  writeFileSync(join(output, "LICENSES"), licencesOf(Object.keys(metafile.inputs)))
}

/** The output file of a command: `sim/start` becomes `sim.js`. */
const fileOf = (path: string): string => path.replace(/\/start$/, "")

const partsStayOutside: Plugin = {
  name: "parts stay outside",
  setup({ onResolve }) {
    onResolve({ filter: /\.ts$/ }, ({ path, kind }) =>
      kind === "dynamic-import"
        ? { path: `./${fileOf(path.replace(/^\.\/|\.ts$/g, ""))}.js`, external: true }
        : undefined,
    )
  },
}

const NODE_MODULE = new RegExp(`^(?:node:)?(?:${builtinModules.join("|")})$`)

/**
 * Loads a module of Node when the first module that uses it runs, and reads only used names. An `import` would load all modules at the
 * start and read every name. One name of `node:http` loads a client that few commands need.
 */
const nodeWhenNeeded: Plugin = {
  name: "modules of Node when needed",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: NODE_MODULE }, ({ path, kind }) => ({
      path: path.replace(/^node:/, ""),
      namespace: kind === "require-call" ? "node-required" : "node-imported",
    }))
    onLoad({ filter: /^/, namespace: "node-required" }, ({ path }) => ({
      contents: `module.exports = ${builtin(path)}`,
    }))
    onLoad({ filter: /^/, namespace: "node-imported" }, ({ path }) => ({
      contents: namesOf(builtin(path), plainNames(path)),
    }))
  },
}

const builtin = (name: string): string => `process.getBuiltinModule("node:${name}")`

/** Code of a module that exports properties of a value by name, so that the bundler can drop unused ones. */
function namesOf(value: string, names: readonly string[]): string {
  const lines = names.map((name) => `export const ${name} = /* @__PURE__ */ the("${name}")`)
  return [`const all = ${value}, the = (name) => all[name]`, "export default all", ...lines].join("\n")
}

const IDENTIFIER = /^(?!default$|arguments$|eval$|constructor$)[A-Za-z_$][\w$]*$/
/** Getters that create their value when they are read. The build fails if code uses another one. */
const MADE_WHEN_READ = new Set(["BlockList"])

/** Names of a module without its getters: some of these load another module, others warn that they are deprecated. */
function plainNames(module: string): readonly string[] {
  const names = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(`node:${module}`)!))
  const isPlain = ([name, { get }]: (typeof names)[number]) => get === undefined || MADE_WHEN_READ.has(name)
  return names.filter(isPlain).flatMap(([name]) => (IDENTIFIER.test(name) ? [name] : []))
}

/** Replaces development tools, which the renderer imports only when it is developed itself. */
const withoutDevelopmentTools: Plugin = {
  name: "without development tools",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: "nothing" }))
    onLoad({ filter: /^/, namespace: "nothing" }, () => ({ contents: "export default {}" }))
  },
}

/** Matches the path by which the bundler names a module. The bundler may break it at the end of a line. */
const MODULE_NAME = /"((?:[\w@.+/-]|\\\n)+)"\(/g
const LINE_BREAK = /\\\n/g

/** Shortens the paths in stack traces to the package and the path inside it. */
function shortenPaths(file: string): void {
  const shorter = (path: string) => path.replace(/^node_modules\//, "").replace(/^packages\/([\w-]+)\/src\//, "$1/")
  const code = readFileSync(file, "utf8")
  writeFileSync(
    file,
    code.replace(MODULE_NAME, (whole, path: string) => {
      const joined = path.replace(LINE_BREAK, "")
      return shorter(joined) === joined ? whole : `"${shorter(joined)}"(`
    }),
  )
}
