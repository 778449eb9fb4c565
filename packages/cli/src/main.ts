#!/usr/bin/env node
/** `strata`: starts the program if this Node can run it, else says which Node it needs. Node 12 has to be able to parse this file. */
import { nodeProblem } from "./node-version.ts"

const problem = nodeProblem(process.versions.node)
if (problem === undefined) {
  import("./start.ts").then((program) => program.start(process.argv.slice(2)))
} else {
  console.error(problem)
  process.exitCode = 1
}
