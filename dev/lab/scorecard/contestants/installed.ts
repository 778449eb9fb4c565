/** Installs peers' own code from the registry into a directory outside the project when the scorecard runs. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { install } from "../../clients/install.ts"

/** A package and its modules to import, by the name that they get here. */
export interface Peer {
  /** Packages to install. The first one's version is in the table. */
  readonly packages: readonly string[]
  /** Additional flags for npm. */
  readonly flags?: readonly string[]
  readonly modules: Readonly<Record<string, string>>
}

/** Untyped, because the types of peers are not installed with the project. */
export type External = ReturnType<ObjectConstructor>

export interface InstalledPeer {
  readonly version: string
  readonly directory: string
  readonly modules: Readonly<Record<string, External>>
}

/** The imported modules, or a sentence with the reason why they could not be installed. */
export async function installPeer(
  root: string,
  { packages, flags = [], modules }: Peer,
): Promise<InstalledPeer | string> {
  const installed = await install(root, packages, ["--ignore-scripts", ...flags])
  if (typeof installed === "string") return installed
  const { directory, version } = installed
  const entry = join(directory, "scorecard.mjs")
  writeFileSync(
    entry,
    Object.entries(modules)
      .map(([name, from]) => `export * as ${name} from ${JSON.stringify(from)}\n`)
      .join(""),
  )
  return { version, directory, modules: await import(pathToFileURL(entry).href) }
}
