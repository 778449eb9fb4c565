/**
 * Publishes the packages in `build/`, in the order of their dependencies. Versions that are already in the registry are skipped, so that an
 * interrupted release can continue.
 *
 *     npm run publish-all -- --dry-run    packs each as npm would, and sends nothing
 *     npm run publish-all                 needs the tag of the version, and permission to publish
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { publishedPackages, ROOT, readManifest, type SourcePackage } from "./packages.ts"
import { runToEnd } from "./run-to-end.ts"

export interface Publication {
  readonly packages: readonly SourcePackage[]
  /** Directory of the built packages. */
  readonly build: string
  /** The tags of the commit that is checked out. */
  readonly tags: readonly string[]
  readonly isDryRun: boolean
}

/** One sentence for each reason not to publish. */
export function publicationProblems({ packages, build, tags, isDryRun }: Publication): readonly string[] {
  const missing = packages.filter(({ folder }) => !existsSync(manifestOf(build, folder)))
  if (missing.length > 0)
    return [`${missing.map(({ folder }) => `build/${folder}`).join(", ")} is missing. Run: npm run build`]
  const version = packages[0]!.manifest.version
  const built = packages.map(({ folder, manifest: { name } }) => ({
    name,
    is: readManifest(manifestOf(build, folder)),
  }))
  const releases = tags.filter((tag) => /^v\d/.test(tag))
  const isTagged = releases.includes(`v${version}`)
  const needsTag = !isDryRun || releases.length > 0 // a dry run is also possible between two releases
  return [
    ...built
      .filter(({ name, is }) => is.name !== name || is.version !== version)
      .map(({ name, is }) => `The build has ${is.name} ${is.version}, not ${name} ${version}. Run: npm run build`),
    ...(isTagged || !needsTag ? [] : [`The commit has ${releases.join(", ") || "no release tag"}, not v${version}.`]),
  ]
}

const manifestOf = (build: string, folder: string): string => join(build, folder, "package.json")

/** `env` has npm's variables for the registry and the permission to publish. */
export function publish({ packages, build, isDryRun }: Publication, env: NodeJS.ProcessEnv = process.env): void {
  for (const { folder, manifest } of packages) {
    const { name, version } = manifest
    if (!isDryRun && isPublished(name, version, env)) {
      console.log(`${name} ${version} is published already.`)
      continue
    }
    // GitHub attests packages that its own machines built
    const provenance = env.GITHUB_ACTIONS === "true" && !isDryRun ? ["--provenance"] : []
    const dryRun = isDryRun ? ["--dry-run"] : []
    runToEnd("npm", ["publish", join(build, folder), "--ignore-scripts", ...provenance, ...dryRun], { env })
    console.log(`${name} ${version} ${isDryRun ? "could be published." : "is published."}`)
  }
}

/** Throws if the registry does not answer, because its content must not be guessed. */
function isPublished(name: string, version: string, env: NodeJS.ProcessEnv): boolean {
  const npm = spawnSync("npm", ["view", `${name}@${version}`, "version", "--json"], { encoding: "utf8", env })
  if (npm.status === 0) return npm.stdout.trim() !== ""
  if (/\bE404\b/.test(npm.stdout + npm.stderr)) return false
  throw new Error(`The registry does not say whether it has ${name} ${version}:\n${npm.stderr}`)
}

if (import.meta.main) {
  const unknown = process.argv.slice(2).filter((word) => word !== "--dry-run")
  if (unknown.length > 0) {
    console.error(`There is no option ${unknown.join(", ")}. The only one is --dry-run.`)
    process.exit(2)
  }
  const tags = runToEnd("git", ["tag", "--points-at", "HEAD"], { cwd: ROOT }).trim().split("\n")
  const isDryRun = process.argv.includes("--dry-run")
  const publication = { packages: publishedPackages(), build: join(ROOT, "build"), tags, isDryRun }
  const problems = publicationProblems(publication)
  if (problems.length > 0) {
    console.error(`${problems.join("\n")}\nNothing was published.`)
    process.exit(1)
  }
  try {
    publish(publication)
  } catch (error) {
    console.error(`${(error as Error).message}\nRun the command again: it continues with the missing packages.`)
    process.exit(1)
  }
}
