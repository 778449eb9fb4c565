#!/usr/bin/env node
/**
 * `strata`: starts the program if this Node can run it, else says which Node it needs. Node 12 has to be able to parse this file. Each part
 * below is one file of the package, complete in itself: only one of them loads.
 */
import { nodeProblem } from "./node-version.ts"

function partFor(args: readonly string[]) {
  if (args[0] === "compact-messages") return import("./compact-messages/start.ts")
  if (args[0] === "mcp") return import("./mcp/start.ts")
  if (args[0] === "look-worker") return import("./usage/start.ts")
  if (args.length === 0 || (args.length === 1 && /^(--help|-h|help|--version|-v)$/.test(args[0]!)))
    return import("./overview.ts")
  return import("./strata.ts")
}

const problem = nodeProblem(process.versions.node)
if (problem === undefined) {
  process.getBuiltinModule("node:module").enableCompileCache() // before anything else loads: it makes every later start faster
  const args = process.argv.slice(2)
  partFor(args).then(({ start }) => start(args))
} else {
  console.error(problem)
  process.exitCode = 1
}
