/**
 * Sets the version of all packages of the workspace: `npm run set-version -- 0.2.0`. Each package then requires exactly that version of the
 * others. Updates the lock file too.
 */
import { writeFileSync } from "node:fs"
import { type Manifest, manifestFiles, ROOT, readManifest } from "./packages.ts"
import { runToEnd } from "./run-to-end.ts"

const VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/
const GROUPS = ["dependencies", "devDependencies", "peerDependencies"] as const

export const isVersion = (text: string): boolean => VERSION.test(text)

export function withVersion(manifests: readonly Manifest[], version: string): readonly Manifest[] {
  const siblings = new Set(manifests.map(({ name }) => name))
  const follow = (group: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(group).map(([name, wanted]) => [name, siblings.has(name) ? version : wanted]))
  return manifests.map((manifest) => {
    const groups = GROUPS.flatMap((group) => (manifest[group] ? [[group, follow(manifest[group])] as const] : []))
    return { ...manifest, version, ...Object.fromEntries(groups) }
  })
}

/** Writes the manifests and the lock file of a workspace, and returns the names of its packages. */
export function setVersion(version: string, root = ROOT): readonly string[] {
  const files = manifestFiles(root)
  const manifests = withVersion(files.map(readManifest), version)
  for (const [at, file] of files.entries()) writeFileSync(file, `${JSON.stringify(manifests[at], null, 2)}\n`)
  runToEnd("npm", ["install", "--package-lock-only", "--ignore-scripts"], { cwd: root })
  return manifests.map(({ name }) => name)
}

if (import.meta.main) {
  const version = process.argv[2] ?? ""
  if (!isVersion(version)) {
    console.error(`"${version}" is not a version. For example: npm run set-version -- 0.2.0`)
    process.exit(2)
  }
  console.log(`${setVersion(version).join(", ")}: ${version}`)
}
