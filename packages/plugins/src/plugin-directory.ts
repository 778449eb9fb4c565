/** Where the plugins are: folders of this package. In `src` and in the bundle, they are one folder up. */
import { fileURLToPath } from "node:url"

export const CLAUDE_CODE_PLUGIN = fileURLToPath(new URL("../claude-code", import.meta.url))
