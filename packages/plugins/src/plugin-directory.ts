/** Location of a plugin: a folder of this package. From `src` and from the bundle, it is one folder up. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Client } from "./clients.ts"

const PACKAGE = fileURLToPath(new URL("../package.json", import.meta.url))

export const pluginDirectory = (client: Client): string => join(PACKAGE, "..", client)

export const programVersion = (): string => (JSON.parse(readFileSync(PACKAGE, "utf8")) as { version: string }).version
