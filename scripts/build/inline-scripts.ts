/**
 * Puts the browser's scripts into the file that serves them, so that a published package reads none from disk. From sources, the server
 * takes the types out of each file when it is asked for.
 */
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { transformSync } from "esbuild"

const SERVES_SCRIPTS = /[\\/]page[\\/]src[\\/]server[\\/]scripts\.ts$/
const NAMES = /const NAMES: ReadonlySet<string> = new Set\((\[[^\]]*\])\)/
const EMPTY = "const BUILT: Readonly<Record<string, string>> = {}"

export function withInlinedScripts(path: string, code: string): string {
  if (!SERVES_SCRIPTS.test(path)) return code
  const names = JSON.parse(NAMES.exec(code)?.[1] ?? "[]") as readonly string[]
  if (names.length === 0 || !code.includes(EMPTY)) throw new Error(`${path} does not say where its scripts go.`)
  const built = names.map((name) => [name, scriptAt(join(dirname(path), "..", "client", `${name}.ts`))] as const)
  return code.replace(EMPTY, () => `const BUILT = ${JSON.stringify(Object.fromEntries(built))}`)
}

const scriptAt = (file: string): string =>
  transformSync(readFileSync(file, "utf8"), { loader: "ts", minify: true, target: "es2022" }).code.replace(
    /(from"\.\/\w+)\.ts"/g,
    '$1.js"',
  )
