/** Peers' own code, installed from the registry into a directory outside the project when the scorecard runs. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { install } from "../../clients/install.ts"

/** A package, and what to import of it: names of modules by the name they get here. */
export interface Peer {
  /** The first one's version is in the table. */
  readonly packages: readonly string[]
  /** Flags of npm. */
  readonly flags?: readonly string[]
  readonly modules: Readonly<Record<string, string>>
}

/** Anything: the types of peers are not installed with the project. */
export type External = ReturnType<ObjectConstructor>

export interface InstalledPeer {
  readonly version: string
  readonly directory: string
  readonly modules: Readonly<Record<string, External>>
}

/** The modules, or the sentence why they could not be installed. */
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
