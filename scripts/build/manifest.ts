/**
 * From a workspace `package.json`, which points at sources, to the one that is published, which points at what was compiled from them.
 * Versions stay exact; what only development needs is left out.
 */
import type { Manifest } from "./packages.ts"

const ONLY_FOR_DEVELOPMENT = new Set(["devDependencies", "scripts"])

/** `./src/a.tsx` becomes `./dist/a.js`. */
export function compiled(source: string): string {
  const path = /^\.\/src\/(.+)\.tsx?$/.exec(source)?.[1]
  if (path === undefined) throw new Error(`${source} is no source file below ./src.`)
  return `./dist/${path}.js`
}

export function publishedManifest(manifest: Manifest): Record<string, unknown> {
  const kept = Object.entries(manifest).filter(([field]) => !ONLY_FOR_DEVELOPMENT.has(field))
  const { exports, bin } = manifest
  return {
    ...Object.fromEntries(kept),
    ...(exports && { exports: mapValues(exports, conditions) }),
    ...(bin && { bin: mapValues(bin, compiled) }),
    files: ["dist"],
    publishConfig: { access: "public" }, // what has a scope is private unless this is said
  }
}

function conditions(source: string) {
  const file = compiled(source)
  return { types: file.replace(/\.js$/, ".d.ts"), default: file } // the first that fits is taken: types before all
}

function mapValues<T>(from: Readonly<Record<string, string>>, change: (value: string) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(from).map(([key, value]) => [key, change(value)]))
}
