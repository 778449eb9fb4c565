/** A proxy as a process of its own, for measuring and for ending it at any moment. Bundled like the program, it starts like the program. */
import { enableCompileCache } from "node:module"

enableCompileCache()
await import("./serve.ts")
