/**
 * Writes the address of the repository into every published package: `npm run metadata`. The address is in one place, the field
 * `repository` of the workspace's `package.json`.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { publishedPackages, ROOT, readManifest } from "./packages.ts"

/** Fields derived from the address. npm compares `repository` with the repository that a package was built from. */
export function metadataOf(folder: string, root = ROOT) {
  const { repository } = readManifest(join(root, "package.json"))
  const url = String(repository)
  const page = url.replace(/^git\+/, "").replace(/\.git$/, "")
  return {
    homepage: `${page}#readme`,
    bugs: `${page}/issues`,
    repository: { type: "git", url, directory: `packages/${folder}` },
  }
}

if (import.meta.main)
  for (const { folder, manifest } of publishedPackages()) {
    const file = join(ROOT, "packages", folder, "package.json")
    writeFileSync(file, `${JSON.stringify({ ...manifest, ...metadataOf(folder) }, null, 2)}\n`)
  }
