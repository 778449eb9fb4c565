#!/usr/bin/env node
/** `strata`: finds the command that is asked for and loads only that. Whatever goes wrong is said in a sentence. */
import { enableCompileCache } from "node:module"

enableCompileCache() // before anything else is loaded: the second start is the fast one

// nothing but what helps to find the command: the rest is loaded when it is needed
const { strata } = await import("./strata.ts")

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0) // the reader has seen enough: `strata inspect … | head`
  throw error
})

process.exitCode = await strata(process.argv.slice(2))
