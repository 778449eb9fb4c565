/**
 * Bundles the program. Each part that `main.ts` can start is one file, complete in itself, with its libraries: a process loads that file and
 * nothing else. What a command does not use is in the file, and is not run. So the parts of one process know each other's classes.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { builtinModules, createRequire } from "node:module"
import { join } from "node:path"
import { type BuildOptions, build, type Plugin } from "esbuild"
import { ownSources } from "./bundle.ts"
import { licencesOf } from "./licences.ts"
import { ROOT } from "./packages.ts"

/**
 * Found in `node_modules`, when they are needed: they find files beside themselves, load only with a server of the user's, or are large and
 * belong to the simulator. The program depends on these, and on nothing else.
 */
export const OUTSIDE: ReadonlySet<string> = new Set([
  "@vscode/ripgrep",
  "@modelcontextprotocol/client",
  "gpt-tokenizer",
])

/** Not installed with the program. Who names one in a setting of their own has it. */
const NOT_THERE = ["ai", "@valibot/to-json-schema"]

const requireHere = createRequire(import.meta.url)
const PART = /\bimport\("\.\/([\w/-]+)\.ts"\)/g
/** Names stay and lines stay short, so that a stack trace says where it was. */
const LINE_CHARACTERS = 160

export interface ProgramBundle {
  /** The file that Node starts. */
  readonly main: string
  readonly output: string
}

export async function bundleProgram({ main, output }: ProgramBundle): Promise<void> {
  const parts = [...readFileSync(main, "utf8").matchAll(PART)].map(([, path]) => path!)
  const shared: BuildOptions = {
    absWorkingDir: ROOT,
    outdir: output, // all beside each other: commands read `../package.json`
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    jsx: "automatic",
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: LINE_CHARACTERS,
    legalComments: "none", // the licences are in a file of their own
    logLevel: "error",
    logOverride: { "import-is-undefined": "error" },
  }
  await build({ ...shared, entryPoints: { main }, plugins: [partsStayOutside] })
  const { metafile } = await build({
    ...shared,
    entryPoints: Object.fromEntries(parts.map((path) => [fileOf(path), join(main, "..", `${path}.ts`)])),
    define: { "process.env.NODE_ENV": '"production"', "process.env.DEV": '"false"' },
    alias: { yaml: join(ROOT, "node_modules/yaml/browser/index.js") }, // its ES modules: for Node it names CommonJS ones
    external: NOT_THERE,
    plugins: [ownSources, nodeWhenNeeded, requiredWhenNeeded, withoutDevelopmentTools],
    metafile: true,
  })
  for (const file of Object.keys(metafile.outputs)) shortenPaths(join(ROOT, file))
  writeFileSync(join(output, "LICENSES"), licencesOf(Object.keys(metafile.inputs)))
}

/** `carry/start` is `carry.js`. */
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
 * A module of Node loads when the first module that uses it runs, and only the names that are used are read. An `import` would load all at the
 * start, and read every name: of `node:http`, one of them loads a client that few commands need.
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

/** A module with the names of a value. Those that no one uses are left out of the bundle. */
function namesOf(value: string, names: readonly string[]): string {
  const lines = names.map((name) => `export const ${name} = /* @__PURE__ */ the("${name}")`)
  return [`const all = ${value}, the = (name) => all[name]`, "export default all", ...lines].join("\n")
}

const IDENTIFIER = /^(?!default$|arguments$|eval$|constructor$)[A-Za-z_$][\w$]*$/
/** Made when it is read, and read by name. The build fails if another one is. */
const MADE_WHEN_READ = new Set(["BlockList"])

/** Without those that are made when they are read: some load another module, others warn that they are deprecated. */
function plainNames(module: string): readonly string[] {
  const names = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(`node:${module}`)!))
  const isPlain = ([name, { get }]: (typeof names)[number]) => get === undefined || MADE_WHEN_READ.has(name)
  return names.filter(isPlain).flatMap(([name]) => (IDENTIFIER.test(name) ? [name] : []))
}

const isOutside = (path: string): boolean => [...OUTSIDE].some((name) => path === name || path.startsWith(`${name}/`))

/** A library that stays outside is required by the first module that uses it. */
const requiredWhenNeeded: Plugin = {
  name: "outside libraries when needed",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^.]/ }, ({ path, kind }) => {
      if (!isOutside(path)) return undefined
      return kind === "dynamic-import" ? { path, external: true } : { path, namespace: "outside" }
    })
    onLoad({ filter: /^/, namespace: "outside" }, ({ path }) => ({
      contents: namesOf(
        `${builtin("module")}.createRequire(import.meta.url)("${path}")`,
        Object.keys(requireHere(path) as object).filter((name) => IDENTIFIER.test(name)),
      ),
    }))
  },
}

/** The renderer asks for these only while it is developed itself. */
const withoutDevelopmentTools: Plugin = {
  name: "without development tools",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: "nothing" }))
    onLoad({ filter: /^/, namespace: "nothing" }, () => ({ contents: "export default {}" }))
  },
}

/** The bundler names each module by its path, and may break it at the end of a line. */
const MODULE_NAME = /"((?:[\w@.+/-]|\\\n)+)"\(/g
const LINE_BREAK = /\\\n/g

/** A stack trace needs no more of a path than the package and what follows. */
function shortenPaths(file: string): void {
  const shorter = (path: string) => path.replace(/^node_modules\//, "").replace(/^packages\/(\w+)\/src\//, "$1/")
  const code = readFileSync(file, "utf8")
  writeFileSync(
    file,
    code.replace(MODULE_NAME, (whole, path: string) => {
      const joined = path.replace(LINE_BREAK, "")
      return shorter(joined) === joined ? whole : `"${shorter(joined)}"(`
    }),
  )
}
