/** Where a plugin is: a folder of this package. From `src` and from the bundle, it is one folder up. */
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Client } from "./clients.ts"

const PACKAGE = fileURLToPath(new URL("../package.json", import.meta.url))

export const pluginDirectory = (client: Client): string => join(PACKAGE, "..", client)
