/**
 * The scripts of the pages, for the browser. From sources they are TypeScript with its types taken out, one file each, so nothing has to be
 * built. In a published package the build has put them here as text.
 */
import { readFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"

const NAMES: ReadonlySet<string> = new Set(["page", "live", "rows", "chart", "actions"])
/** Filled by the build. */
const BUILT: Readonly<Record<string, string>> = {}

export async function scriptNamed(file: string): Promise<string | undefined> {
  const name = file.replace(/\.js$/, "")
  if (!NAMES.has(name)) return undefined
  return BUILT[name] ?? fromSource(name)
}

async function fromSource(name: string): Promise<string> {
  const source = await readFile(new URL(`../client/${name}.ts`, import.meta.url), "utf8")
  return withoutTypes(source).replace(/(from "\.\/\w+)\.ts"/g, '$1.js"')
}

/** Node warns that this is new. The person who opens a page can do nothing about it. */
function withoutTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}
