/**
 * Turns the `package.json` of the workspace, which points at sources, into the published one, which points at bundled files.
 * Versions and ranges stay as they are. Fields that only development needs are dropped.
 */
import { type Manifest, OWN_MANIFEST } from "./packages.ts"

const ONLY_FOR_DEVELOPMENT = new Set(["devDependencies", "scripts"])

/** Maps a source to its compiled file: `./src/a.tsx` becomes `./dist/a.js`. */
export function compiled(source: string): string {
  const path = /^\.\/src\/(.+)\.tsx?$/.exec(source)?.[1]
  if (path === undefined) throw new Error(`${source} is not a source file in ./src.`)
  return `./dist/${path}.js`
}

export function publishedManifest(manifest: Manifest): Record<string, unknown> {
  const kept = Object.entries(manifest).filter(([field]) => !ONLY_FOR_DEVELOPMENT.has(field))
  const { exports, bin } = manifest
  return {
    ...Object.fromEntries(kept),
    ...(exports && { exports: mapValues(exports, conditions) }),
    ...(bin && { bin: mapValues(bin, compiled) }),
    files: ["dist", ...(manifest.files ?? [])],
    publishConfig: { access: "public" }, // without this, npm publishes a package with a scope as private
  }
}

function conditions(source: string) {
  if (source === OWN_MANIFEST) return OWN_MANIFEST
  const file = compiled(source)
  const types = file.replace(/\.js$/, ".d.ts")
  return { types, default: file } // a resolver takes the first that fits, so types come first
}

function mapValues<T>(from: Readonly<Record<string, string>>, change: (value: string) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(from).map(([key, value]) => [key, change(value)]))
}
