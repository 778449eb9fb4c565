/**
 * A proxy in a separate process, for measuring and for killing it at any moment. It is bundled like the program, and starts in the same
 * way.
 */
import { enableCompileCache } from "node:module"

enableCompileCache()
await import("./serve.ts")
