/**
 * Includes the browser's script, bundled, in the file that serves it, so that a published package reads no script from disk. When run from
 * sources, the server strips the types of each requested file.
 */
import { dirname, join } from "node:path"
import { buildSync } from "esbuild"

const SERVES_SCRIPTS = /[\\/]page[\\/]src[\\/]server[\\/]app\.ts$/
const EMPTY = "const BUILT_SCRIPTS: Readonly<Record<string, string>> = {}"

export function withInlinedScripts(path: string, code: string): string {
  if (!SERVES_SCRIPTS.test(path)) return code
  if (!code.includes(EMPTY)) throw new Error(`${path} has no position for its scripts.`)
  const built = { page: bundled(join(dirname(path), "..", "client", "page.ts")) }
  return code.replace(EMPTY, () => `const BUILT_SCRIPTS: Readonly<Record<string, string>> = ${JSON.stringify(built)}`)
}

const bundled = (file: string): string =>
  buildSync({ entryPoints: [file], bundle: true, minify: true, format: "esm", target: "es2022", write: false })
    .outputFiles[0]!.text
